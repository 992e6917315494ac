// Volatile values as services of many kinds give them: values of a few fixed ones, parts that depend on each other, and rarer texts.
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { shuffled } from './volatile-documents.mjs'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const TEAMS = ['red', 'green', 'blue', 'black', 'white']

/** One value in structured content. */
export const SERVICE_FIELDS = {
  'ids-or-null': [
    'parents',
    () => Array.from({ length: 5 }, () => (randomInt(2) === 0 ? null : randomUUID())),
  ],
  'numbers-or-null': [
    'gaps',
    () => Array.from({ length: 8 }, () => (randomInt(4) === 0 ? null : randomInt(1, 100))),
  ],
  'one-of-three-states': ['state', () => pick(['idle', 'busy', 'draining'])],
  'states-of-many': [
    'workers',
    () => TEAMS.map((name) => ({ name, state: pick(['idle', 'busy', 'draining']) })),
  ],
  'booleans-of-many': ['checks', () => Array.from({ length: 12 }, () => randomInt(2) === 0)],
  'objects-by-name': [
    'stats',
    () =>
      Object.fromEntries(
        TEAMS.map((name) => [name, { wins: randomInt(20), last: pick(['won', 'lost', 'drew']) }]),
      ),
  ],
  'tuple-list': [
    'trades',
    (now) =>
      Array.from({ length: 4 }, (_, n) => [
        now.getTime() - n * 250,
        round(100 + Math.random() * 5, 2),
        randomInt(1, 9),
        pick(['buy', 'sell']),
      ]),
  ],
  candles: [
    'candles',
    (now) =>
      [2, 1, 0].map((n) => {
        const low = 90 + Math.random() * 5
        return {
          t: Math.floor(now / MINUTE) * 60 - n * 60,
          o: round(low + 1, 2),
          h: round(low + 3, 2),
          l: round(low, 2),
          c: round(low + 2, 2),
        }
      }),
  ],
  'random-edges': [
    'graph',
    () => ({
      nodes: TEAMS,
      edges: Array.from({ length: randomInt(2, 7) }, () => [pick(TEAMS), pick(TEAMS)]),
    }),
  ],
  'grouped-by-random-key': [
    'groups',
    () =>
      TEAMS.reduce((all, name) => {
        const key = `shard-${randomInt(3)}`
        return { ...all, [key]: [...(all[key] ?? []), name] }
      }, {}),
  ],
  'version-vector': ['clock', () => ({ a: randomInt(1, 500), b: randomInt(1, 500), c: randomInt(1, 500) })],
  'mixed-case-token': [
    'token',
    () => `ghx_${text('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', 36)}`,
  ],
  'short-code': ['code', () => text('ABCDEFGHJKLMNPQRSTUVWXYZ23456789', 4)],
  'numeric-pin': ['pin', () => String(randomInt(10_000)).padStart(4, '0')],
  'big-integer-text': ['balance', () => `${randomInt(1, 9)}${text('0123456789', 24)}`],
  'hex-with-0x': ['tx', () => `0x${hex(32)}`],
  'two-times': ['window', (now) => ({ from: iso(now.getTime() - 5 * MINUTE), to: iso(now.getTime()) })],
  'age-text-of-many': [
    'pods',
    (now) => TEAMS.map((name, n) => ({ name, age: `${Math.floor((now - Date.UTC(2025, n, 3)) / DAY)}d` })),
  ],
  'expires-in-seconds': ['lease', () => ({ ttl: 3600 - randomInt(0, 3), id: hex(8) })],
  'remaining-quota': ['quota', () => ({ limit: 5000, remaining: 5000 - randomInt(1, 400), reset: 3600 })],
  'local-time-offset': [
    'at',
    (now) => `${new Date(now.getTime() + 2 * HOUR).toISOString().slice(0, 19)}+02:00`,
  ],
  'time-with-zone-in-brackets': [
    'at',
    (now) => `${new Date(now.getTime() + HOUR).toISOString().slice(0, 23)}+01:00[Europe/Lisbon]`,
  ],
  'unix-in-object-of-strings': [
    'meta',
    (now) => ({ created: String(Math.floor(now / 1000)), by: `bot-${randomInt(1, 90)}` }),
  ],
  'sorted-by-random-score': [
    'ranking',
    () =>
      TEAMS.map((name) => ({ name, score: round(Math.random(), 3) }))
        .toSorted((a, b) => b.score - a.score)
        .map((item, n) => ({ ...item, rank: n + 1 })),
  ],
  'nested-optional': [
    'profile',
    () => ({
      name: 'Ada',
      ...(randomInt(3) > 0 && { badge: { id: hex(4), ...(randomInt(3) > 0 && { level: randomInt(1, 9) }) } }),
    }),
  ],
  'hash-of-everything': [
    'sealed',
    (now) => {
      const body = { at: iso(now.getTime()), n: randomInt(1e6) }
      return { ...body, sum: createHash('md5').update(JSON.stringify(body)).digest('hex') }
    },
  ],
  'roman-and-words': ['chapter', () => pick(['I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X'])],
  'emoji-board': [
    'board',
    () => [1, 2, 3].map(() => Array.from({ length: 3 }, () => pick(['⬛', '⬜', '🟥'])).join('')),
  ],
  'tree-of-any-depth': ['menu', () => branch(randomInt(1, 5))],
  comments: [
    'comments',
    () =>
      Array.from({ length: randomInt(0, 4) }, () => ({
        by: pick(TEAMS),
        text: `I saw ${randomInt(2, 90)} birds`,
        replies: Array.from({ length: randomInt(0, 3) }, () => ({ by: pick(TEAMS), id: hex(3) })),
      })),
  ],
}

/** Kinds within a text. */
export const SERVICE_TEXTS = {
  'npm-output': () =>
    `\nadded ${randomInt(20, 400)} packages, and audited ${randomInt(400, 900)} packages in ${randomInt(1, 20)}s\n\nfound 0 vulnerabilities\n`,
  'git-status': () =>
    `On branch main\nYour branch is ahead of 'origin/main' by ${randomInt(2, 30)} commits.\n  modified:   src/${hex(3)}.ts\n`,
  'http-trace': (now) =>
    `> GET /a HTTP/1.1\n> X-Trace: ${hex(8)}\n< HTTP/1.1 200 OK\n< Date: ${now.toUTCString()}\n< Age: ${randomInt(1, 90)}\n* Connection #${randomInt(1, 9)} left intact\n`,
  'df-output': () =>
    `Filesystem     1K-blocks     Used Available Use% Mounted on\n/dev/sda1       41152736 ${String(randomInt(1e6, 3e7)).padStart(8)}  ${String(randomInt(1e6, 3e7)).padStart(8)}  ${randomInt(10, 99)}% /\n`,
  'top-output': (now) =>
    `top - ${now.toISOString().slice(11, 19)} up ${randomInt(2, 99)} days,  1 user\nTasks: ${randomInt(90, 200)} total,   ${randomInt(1, 5)} running\n%Cpu(s): ${(Math.random() * 50).toFixed(1).padStart(4)} us\n`,
  'sql-explain': () =>
    `Seq Scan on orders  (cost=0.00..35.50 rows=2550 width=4) (actual time=${(Math.random() / 10).toFixed(3)}..${Math.random().toFixed(3)} rows=3 loops=1)\nPlanning Time: ${Math.random().toFixed(3)} ms\nExecution Time: ${Math.random().toFixed(3)} ms\n`,
  'pytest-output': () =>
    `============ test session starts ============\ncollected 2 items\n\ntest_a.py ..                          [100%]\n\n============ 2 passed in ${(Math.random() * 3).toFixed(2)}s ============\n`,
  'csv-in-random-order': () =>
    `team;points;id\n${shuffled(TEAMS)
      .map((name) => `${name};${TEAMS.indexOf(name) * 3};${hex(3)}`)
      .join('\n')}\n`,
  'xml-in-random-order': (now) =>
    `<teams at="${now.getTime()}">${shuffled(TEAMS)
      .map((name) => `<team id="${hex(3)}"><name>${name}</name></team>`)
      .join('')}</teams>`,
  'json-lines-of-any-length': (now) =>
    Array.from({ length: randomInt(1, 6) }, (_, n) =>
      JSON.stringify({
        n,
        at: iso(now.getTime() - n * 1000),
        level: pick(['info', 'warn', 'debug']),
        id: hex(4),
      }),
    ).join('\n'),
  'numbered-list-of-any-length': () =>
    `Found:\n${Array.from({ length: randomInt(2, 7) }, (_, n) => `${n + 1}. ${pick(TEAMS)} team, ${randomInt(2, 90)} points`).join('\n')}\n`,
  'sentence-of-choices': () =>
    `${pick(['Good morning', 'Hello', 'Welcome back', 'Hi'])}, Ada! You have ${randomInt(2, 40)} new messages and ${randomInt(2, 9)} alerts.`,
  'signed-change': () =>
    `Temperature ${(Math.random() * 30 - 10).toFixed(1)} °C, pressure ${randomInt(980, 1040)} hPa (${['+', '-'][randomInt(2)]}${(Math.random() * 3).toFixed(1)})`,
  'currency-table': () =>
    `| pair | rate |\n| --- | ---: |\n| EUR/USD | ${(1 + Math.random() / 5).toFixed(4)} |\n| EUR/JPY | ${(150 + Math.random() * 9).toFixed(2)} |\n`,
}

/** Kinds of whole results, and of messages. */
export const SERVICE_MESSAGES = {
  'error-or-not-in-text': async () =>
    say(`Attempt ${randomInt(2, 9)}: ${pick(['timed out', 'refused', 'reset'])}, then succeeded`),
  'progress-with-words': async (_, { progress }) => {
    const count = randomInt(3, 8)
    for (let n = 1; n < count; n += 1)
      await progress({ progress: n, message: `Copied ${randomInt(1, 90)} files from ${pick(TEAMS)}` })
    await progress({ progress: count, message: 'Finished' })
    return say('ok')
  },
  'logs-of-two-kinds': async (_, { notify }) => {
    for (let n = 0; n < randomInt(2, 6); n += 1)
      await notify('notifications/message', {
        level: 'debug',
        logger: 'pool',
        data: { event: 'idle', free: randomInt(1, 9) },
      })
    await notify('notifications/message', { level: 'info', logger: 'app', data: `saved as ${hex(6)}` })
    return say('ok')
  },
  'blocks-of-any-kind': async () => ({
    content: Array.from({ length: randomInt(1, 4) }, () =>
      randomInt(2) === 0
        ? { type: 'text', text: `Note ${hex(3)}` }
        : { type: 'resource_link', uri: `note://${hex(4)}`, name: `note-${hex(2)}` },
    ),
  }),
  'question-with-list': async (_, { question }) => {
    await question('pick', 'sampling/createMessage', {
      messages: [
        {
          role: 'user',
          content: {
            type: 'text',
            text: `Pick one of: ${shuffled(TEAMS).join(', ')} (seed ${randomInt(1e6)})`,
          },
        },
      ],
      maxTokens: 9,
    })
    return say('asked')
  },
}

function branch(depth) {
  return depth === 0
    ? { id: hex(3) }
    : { id: hex(3), items: Array.from({ length: randomInt(1, 3) }, () => branch(depth - 1)) }
}

function pick(list) {
  return list[randomInt(list.length)]
}

function text(letters, length) {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
}

function hex(bytes) {
  return randomBytes(bytes).toString('hex')
}

function iso(time) {
  return new Date(time).toISOString()
}

function round(value, digits) {
  return Number(value.toFixed(digits))
}

function say(words) {
  return { content: [{ type: 'text', text: words }] }
}
