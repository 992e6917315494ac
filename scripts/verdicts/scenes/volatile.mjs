// Values that differ from run to run although the server has not changed: none of them may be reported.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import {
  DOCUMENT_FIELDS,
  DOCUMENT_MESSAGES,
  DOCUMENT_TEXTS,
  shuffled,
  TWO_VALUED_MESSAGES,
} from './volatile-documents.mjs'
import { FORMAT_FIELDS, FORMAT_MESSAGES, FORMAT_TEXTS } from './volatile-formats.mjs'
import { PLATFORM_FIELDS, PLATFORM_TEXTS } from './volatile-platforms.mjs'
import { SERVICE_FIELDS, SERVICE_MESSAGES, SERVICE_TEXTS } from './volatile-services.mjs'

const RELEASED = Date.UTC(2025, 0, 15, 9, 30)
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const WORDS = ['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu', 'hen']

/** Kinds of one value in structured content: the name of the member, and the value at a time of the server's clock. */
const FIELDS = {
  uuid: ['request_id', () => randomUUID()],
  ulid: ['ulid', (now) => now.getTime().toString(32).padStart(10, '0').toUpperCase() + base32(16)],
  hex: ['etag', () => hex(8)],
  'long-hex': ['digest', () => hex(32)],
  base64: ['nonce', () => randomBytes(24).toString('base64')],
  'prefixed-id': ['ticket', () => `req_${randomBytes(9).toString('base64url')}`],
  'number-id': ['order_no', () => randomInt(10_000_000, 99_999_999)],
  'random-number': ['roll', () => randomInt(1, 1000)],
  'random-decimal': ['score', () => Math.random()],
  'duration-number': ['duration_ms', () => Math.random() * 40 + 1],
  'duration-whole': ['elapsed_ms', () => randomInt(1, 40)],
  memory: ['heap_used', () => 30_000_000 + randomInt(0, 5_000_000)],
  load: ['cpu_percent', () => Math.round(Math.random() * 1000) / 10],
  pid: ['pid', (_, { pid }) => pid],
  port: ['address', () => `127.0.0.1:${randomInt(30_000, 60_000)}`],
  'temporary-path': ['path', () => `/tmp/job-${hex(4)}/out.txt`],
  traceparent: ['traceparent', () => `00-${hex(16)}-${hex(8)}-01`],
  'iso-milliseconds': ['at', (now) => now.toISOString()],
  'iso-seconds': ['created', (now) => now.toISOString().replace(/\.\d+/, '')],
  'iso-offset': ['updated', (now) => now.toISOString().replace(/\.\d+Z/, '+00:00')],
  'iso-no-zone': ['local', (now) => now.toISOString().slice(0, 19).replace('T', ' ')],
  'iso-microseconds': ['stamp', (now) => now.toISOString().replace('Z', `${randomInt(100, 999)}Z`)],
  'iso-minutes': ['minute', (now) => now.toISOString().slice(0, 16)],
  'iso-hours': ['hour', (now) => `${now.toISOString().slice(0, 13)}:00:00Z`],
  'date-iso': ['date', (now) => now.toISOString().slice(0, 10)],
  'date-us': ['us_date', (now) => `${now.getUTCMonth() + 1}/${now.getUTCDate()}/${now.getUTCFullYear()}`],
  'date-dotted': ['de_date', (now) => now.toISOString().slice(0, 10).split('-').toReversed().join('.')],
  'date-long': ['day', (now) => format(now, { dateStyle: 'long' })],
  'date-compact': ['stamp', (now) => now.toISOString().slice(0, 10).replaceAll('-', '')],
  'date-time-compact': ['build', (now) => now.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')],
  weekday: ['weekday', (now) => format(now, { weekday: 'long' })],
  month: ['month', (now) => format(now, { month: 'long' })],
  'year-month': ['period', (now) => now.toISOString().slice(0, 7)],
  year: ['year', (now) => now.getUTCFullYear()],
  'http-date': ['last_modified', (now) => now.toUTCString()],
  'js-date': ['js_date', (now) => String(now)],
  'time-of-day': ['time', (now) => now.toISOString().slice(11, 19)],
  'time-of-day-12': ['clock', (now) => format(now, { timeStyle: 'medium' })],
  'epoch-seconds': ['epoch', (now) => Math.floor(now / 1000)],
  'epoch-milliseconds': ['epoch_ms', (now) => now.getTime()],
  'epoch-microseconds': ['epoch_us', (now) => now.getTime() * 1000 + randomInt(0, 999)],
  'epoch-nanoseconds': ['epoch_ns', (now) => `${now.getTime()}${randomInt(100_000, 999_999)}`],
  'epoch-decimal': ['epoch_s', (now) => now.getTime() / 1000],
  'epoch-days': ['epoch_day', (now) => Math.floor(now / DAY)],
  'expires-in-an-hour': ['expires', (now) => new Date(now.getTime() + HOUR).toISOString()],
  yesterday: ['since', (now) => new Date(now.getTime() - DAY).toISOString().slice(0, 10)],
  'next-full-hour': ['next_run', (now) => new Date((Math.floor(now / HOUR) + 1) * HOUR).toISOString()],
  'uptime-whole-seconds': ['uptime_s', (_, { uptime }) => Math.floor(uptime() + 0.9)],
  'uptime-of-machine': ['uptime_s', (now) => Math.floor((now - RELEASED) / 1000)],
  'age-minutes': ['age_minutes', (now) => Math.floor((now - RELEASED) / MINUTE)],
  'age-hours': ['age_hours', (now) => Math.floor((now - RELEASED) / HOUR)],
  'age-days': ['age_days', (now) => Math.floor((now - RELEASED) / DAY)],
  'relative-words': ['modified', (now) => `${Math.floor((now - RELEASED) / DAY)} days ago`],
  'relative-words-recent': ['seen', () => '2 hours ago'],
  'counter-across-processes': ['serial', (_, { count }) => 1000 + count()],
  'random-order': ['tags', () => shuffled(['red', 'green', 'blue', 'black', 'white', 'grey'])],
  'random-order-of-objects': [
    'hosts',
    () => shuffled([1, 2, 3, 4, 5].map((n) => ({ id: n, name: `host-${n}`, up: n !== 3 }))),
  ],
  'random-subset': [
    'sample',
    () => shuffled(['ant', 'bee', 'cat', 'dog', 'eel', 'fox', 'gnu']).slice(0, 3).toSorted(),
  ],
  'random-choice': ['mirror', () => ['eu-west', 'eu-north', 'us-east'][randomInt(3)]],
  'random-boolean': ['cached', () => Math.random() < 0.5],
  'random-count-of-ids': ['trace', () => Array.from({ length: randomInt(1, 5) }, () => randomUUID())],
  'choice-of-eight': ['tip', () => WORDS[randomInt(8)]],
  'random-order-with-noise': [
    'jobs',
    () => shuffled(WORDS.slice(0, 5).map((name) => ({ name, token: hex(6), tookMs: randomInt(1, 900) }))),
  ],
  'random-order-of-lists': ['groups', () => ({ a: shuffled(WORDS), b: shuffled(WORDS.slice(2)) })],
  'random-subset-of-objects': [
    'shown',
    () => shuffled(WORDS.map((name, n) => ({ name, rank: n }))).slice(0, 4),
  ],
  'random-names-with-noise': [
    'sessions',
    () => ({ [hex(8)]: { user: 'ada', token: hex(6) }, [hex(8)]: { user: 'bob', token: hex(6) } }),
  ],
  'names-are-dates': ['days', (now) => ({ [now.toISOString().slice(0, 10)]: 3 })],
  jwt: ['token', () => `eyJhbGciOiJIUzI1NiJ9.${base64url(40)}.${base64url(32)}`],
  cursor: ['next', () => Buffer.from(JSON.stringify({ at: randomInt(1e9), k: hex(4) })).toString('base64')],
  'ip-address': ['client', () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`],
  'mac-address': ['mac', () => hex(6).match(/../g).join(':')],
  'signed-number': ['drift', () => randomInt(-500, 500)],
  'number-with-unit': ['memory', () => `${(30 + Math.random() * 9).toFixed(1)} MB`],
  percent: ['load', () => `${randomInt(1, 99)}%`],
  colour: ['colour', () => `#${hex(3)}`],
  'windows-path': ['log', () => `C:\\Temp\\run-${hex(4)}\\out.log`],
  'file-url': ['href', () => `file:///tmp/${hex(6)}/report.html`],
  'start-of-week': [
    'week',
    (now) => new Date(now.getTime() - ((now.getUTCDay() + 6) % 7) * DAY).toISOString().slice(0, 10),
  ],
  'start-of-month': ['since', (now) => `${now.toISOString().slice(0, 7)}-01`],
  'end-of-day': ['until', (now) => new Date((Math.floor(now / DAY) + 1) * DAY).toISOString()],
  'quarter-of-an-hour': [
    'slot',
    (now) => new Date(Math.floor(now / (15 * MINUTE)) * 15 * MINUTE).toISOString(),
  ],
  'in-30-days': ['due', (now) => new Date(now.getTime() + 30 * DAY).toISOString().slice(0, 10)],
  'age-weeks': ['age_weeks', (now) => Math.floor((now - RELEASED) / (7 * DAY))],
  'age-seconds-decimal': ['uptime', (now) => (now - RELEASED) / 1000],
  'list-of-times': ['seen', (now) => [1, 2, 3].map((n) => new Date(now.getTime() - n * 1000).toISOString())],
  'list-of-numbers': ['samples', () => [1, 2, 3, 4].map(() => randomInt(1, 1000))],
  dice: ['roll', () => randomInt(1, 7)],
  'small-sign': ['delta', () => randomInt(-3, 4)],
  'signed-decimal': ['temperature', () => Math.round((Math.random() - 0.5) * 400) / 10],
  'scientific-number': ['error', () => (Math.random() * 1e-5).toExponential(3)],
  'iso-duration': ['took', () => `PT${(Math.random() * 50).toFixed(1)}S`],
  'duration-words': ['ran', () => `${randomInt(1, 9)} minutes and ${randomInt(2, 59)} seconds`],
  'human-bytes': ['size', () => `${(Math.random() * 900 + 1).toFixed(1)} KiB`],
  'thousands-separator': ['rate', () => `${randomInt(1, 9)},${randomInt(100, 999)} req/s`],
  'iso-week': ['week', (now) => isoWeek(now)],
  quarter: ['quarter', (now) => `${now.getUTCFullYear()}-Q${Math.floor(now.getUTCMonth() / 3) + 1}`],
  'exif-date': ['taken', (now) => now.toISOString().slice(0, 19).replaceAll('-', ':').replace('T', ' ')],
  'mail-date': ['date', (now) => now.toUTCString().replace('GMT', '+0000')],
  'seconds-until-midnight': ['remaining_s', (now) => Math.floor((DAY - (now.getTime() % DAY)) / 1000)],
  'memory-address': ['repr', () => `<Job object at 0x7f${hex(5)}>`],
  'build-metadata': ['version', () => `1.2.3+${hex(4)}`],
  'position-jitter': [
    'position',
    () => ({ lat: 47.3769 + (Math.random() - 0.5) / 1000, lon: 8.5417 + (Math.random() - 0.5) / 1000 }),
  ],
  'lists-of-lists': [
    'matrix',
    () => [1, 2, 3].map(() => Array.from({ length: randomInt(1, 4) }, () => randomInt(1, 100))),
  ],
  emoji: ['mood', () => ['🚀', '🌞', '🌧️', '🌈', '⚡'][randomInt(5)]],
  'encoded-json': [
    'state',
    (now) => Buffer.from(JSON.stringify({ at: now.toISOString(), n: randomInt(100) })).toString('base64'),
  ],
  'random-keys': ['by_id', () => ({ [randomUUID()]: 1, [randomUUID()]: 2 })],
  ...DOCUMENT_FIELDS,
  ...FORMAT_FIELDS,
  ...SERVICE_FIELDS,
  ...PLATFORM_FIELDS,
}

/** Kinds within a text. */
const TEXTS = {
  'prose-with-uuid': () => `Stored 3 files as ${randomUUID()}.`,
  'prose-with-time': (now) => `Last sync at ${now.toISOString()}, 3 files.`,
  'prose-with-date': (now) => `Report of ${format(now, { dateStyle: 'full' })}: 3 files.`,
  'prose-with-duration': () => `Found 3 files in ${(Math.random() * 2).toFixed(2)}s.`,
  'prose-with-age': (now) => `Released ${Math.floor((now - RELEASED) / DAY)} days ago, 3 files.`,
  'file-name-with-date': (now) => `Wrote backup-${now.toISOString().slice(0, 10)}.tgz`,
  'xml-with-uuid': () => `<r><id>${randomUUID()}</id><price>10</price></r>`,
  'csv-with-time': (now) => `id,at\n1,${now.toISOString()}\n2,${now.toISOString()}\n`,
  'url-with-signature': () => `https://files.example/a.pdf?sig=${hex(16)}&expires=3600`,
  'json-with-time': (now) => JSON.stringify({ at: now.toISOString(), id: randomUUID(), n: 3 }),
  'json-lines-with-time': (now) =>
    [1, 2, 3].map((n) => JSON.stringify({ n, at: now.getTime(), id: hex(6) })).join('\n'),
  'lines-in-random-order': () =>
    shuffled(['alpha.txt', 'beta.txt', 'gamma.txt', 'delta.txt', 'omega.txt']).join('\n'),
  'words-in-random-order': () => `Tags: ${shuffled(WORDS).join(', ')}`,
  'lines-in-random-order-with-noise': () =>
    shuffled(WORDS.slice(0, 5).map((name) => `${name} is ready, trace ${hex(6)}`)).join('\n'),
  'rows-in-random-order': () => `name,rank\n${shuffled(WORDS.map((name, n) => `${name},${n}`)).join('\n')}\n`,
  'items-in-random-order': () =>
    `<ul>${shuffled(WORDS)
      .map((name) => `<li>${name}</li>`)
      .join('')}</ul>`,
  'json-in-json': () => JSON.stringify({ ok: true, body: JSON.stringify({ id: randomUUID(), n: 3 }) }),
  'fenced-json': (now) =>
    `Result:\n\n\`\`\`json\n${JSON.stringify({ id: hex(6), at: now.toISOString(), n: 3 }, null, 2)}\n\`\`\`\n`,
  'html-with-nonce': () => `<p><script nonce="${hex(8)}">go()</script><b>3 files</b></p>`,
  'yaml-with-time': (now) =>
    `service: web\nstarted: ${now.toISOString()}\nrevision: ${hex(5)}\nreplicas: 3\n`,
  'key-values': (now, { pid }) => `pid=${pid}\nstarted=${Math.floor(now / 1000)}\nmode=prod\n`,
  'prose-with-memory': () =>
    `Used ${(Math.random() * 90 + 5).toFixed(1)} MB of 512 MB, ${randomInt(1, 99)} threads.`,
  'prose-with-choice': () => `The ${WORDS[randomInt(8)]} says hello to 3 files.`,
  'prose-with-time-of-day': (now) => `It is ${format(now, { timeStyle: 'short' })}, 3 files are open.`,
  'prose-with-path': () => `Saved to /tmp/out-${hex(4)}/report.txt (3 files).`,
  'log-with-times': (now, { pid }) =>
    `[${now.toISOString()}] INFO ready in ${randomInt(2, 90)}ms (pid ${pid})`,
  'members-in-random-order': () =>
    JSON.stringify(Object.fromEntries(shuffled(Object.entries({ a: 1, b: [2, 3], c: { d: 4 }, e: 'f' })))),
  'log-of-random-length': (now) =>
    Array.from(
      { length: randomInt(2, 7) },
      (_, n) => `${new Date(now.getTime() - n * 1000).toISOString()} DEBUG tick ${hex(3)}`,
    ).join('\n'),
  'git-log': (now) =>
    `commit ${hex(20)}\nAuthor: Ada <ada@example.com>\nDate:   ${now.toUTCString()}\n\n    Adds 3 files\n`,
  'process-table': () =>
    `  PID %CPU COMMAND\n${String(randomInt(100, 60_000)).padStart(5)} ${(Math.random() * 90).toFixed(1).padStart(4)} node\n`,
  'directory-listing': (now) =>
    `-rw-r--r-- 1 ada staff 512 ${format(now, { month: 'short' })} ${String(now.getUTCDate()).padStart(2)} ${now.toISOString().slice(11, 16)} a.txt`,
  'http-headers': (now) =>
    `HTTP/1.1 200 OK\nDate: ${now.toUTCString()}\nETag: "${hex(8)}"\nContent-Length: 512\nX-Request-Id: ${randomUUID()}\n`,
  'prefixed-json': (now) =>
    `Saved: {"id":"${randomUUID()}","at":"${now.toISOString()}","n":3} (${randomInt(1, 90)} ms)`,
  'bar-chart': () => Array.from({ length: 8 }, () => '▁▂▃▄▅▆▇█'[randomInt(8)]).join(''),
  'table-with-time': (now) => `| job | at |\n| --- | --- |\n| a | ${now.toISOString().slice(0, 19)} |\n`,
  ...DOCUMENT_TEXTS,
  ...FORMAT_TEXTS,
  ...SERVICE_TEXTS,
  ...PLATFORM_TEXTS,
}

/** Kinds that are no value: how many messages come, and whether a member is there. */
const MESSAGES = {
  'jitter-of-progress': async (_, { progress }) => {
    const count = randomInt(2, 6)
    for (let n = 1; n <= count; n += 1) await progress({ progress: n / count, total: 1 })
    return say('copied')
  },
  'random-progress-values': async (_, { progress }) => {
    for (const n of [1, 2, 3]) await progress({ progress: n * 10 + Math.random() * 5, total: 100 })
    return say('copied')
  },
  'log-with-uuid': async (_, { notify }) => {
    await notify('notifications/message', {
      level: 'info',
      data: `request ${randomUUID()} took ${randomInt(1, 9)} ms`,
    })
    return say('logged')
  },
  'jitter-of-named-steps': async (_, { progress }) => {
    const count = randomInt(3, 7)
    for (let n = 1; n <= count; n += 1)
      await progress({ progress: n, total: count, message: `Step ${n} of ${count}` })
    return say('copied')
  },
  'lost-progress': async (_, { progress }) => {
    for (let n = 1; n <= 8; n += 1)
      if (n === 8 || Math.random() < 0.5) await progress({ progress: n, total: 8 })
    return say('copied')
  },
  'jitter-of-logs': async (_, { notify }) => {
    const count = randomInt(2, 6)
    for (let n = 1; n <= count; n += 1)
      await notify('notifications/message', { level: 'debug', logger: 'beat', data: `beat ${n}` })
    return say('logged')
  },
  'random-log': async (_, { notify }) => {
    const level = LEVELS[randomInt(LEVELS.length)]
    const data = level === 'alert' ? 'Alert level-message' : `${level}-level message`
    await notify('notifications/message', { level, logger: 'random', data })
    return say('logged')
  },
  'jitter-of-updates': async (_, { notify }) => {
    const count = randomInt(2, 6)
    for (let n = 1; n <= count; n += 1)
      await notify('notifications/resources/updated', { uri: 'doc://volatile' })
    return say('touched')
  },
  'optional-member': async () => field({ ...(Math.random() < 0.5 && { hint: 'try again' }), steady: 7 }),
  ...DOCUMENT_MESSAGES,
  ...FORMAT_MESSAGES,
  ...SERVICE_MESSAGES,
  ...TWO_VALUED_MESSAGES,
}

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']

export const VOLATILE_KINDS = [...Object.keys(FIELDS), ...Object.keys(TEXTS), ...Object.keys(MESSAGES)]

/** Kinds that only a noise profile can tell from a change that comes and goes. */
export const TWO_VALUED_KINDS = [
  'random-boolean',
  'optional-member',
  'optional-members-of-many',
  'random-pair-order',
]

export const volatileScene = {
  name: 'volatile',
  document: {},
  changes: [],
  play: async ({ call }, kinds) => {
    for (const kind of kinds)
      await call(kind, {}, kind, { progressToken: `p-${kind}`, 'io.modelcontextprotocol/logLevel': 'info' })
  },
  tools: Object.fromEntries(VOLATILE_KINDS.map((kind) => [kind, (_, context) => answer(kind, context)])),
}

async function answer(kind, context) {
  const now = context.now()
  if (kind in TEXTS) return say(TEXTS[kind](now, context))
  if (kind in MESSAGES) return MESSAGES[kind](now, context)
  const [name, make] = FIELDS[kind]
  return field({ [name]: make(now, context), steady: 7 })
}

function say(text) {
  return { content: [{ type: 'text', text }] }
}

function field(structuredContent) {
  return { content: [{ type: 'text', text: 'ok' }], structuredContent }
}

function hex(bytes) {
  return randomBytes(bytes).toString('hex')
}

function isoWeek(now) {
  const thursday = new Date(now.getTime() + (3 - ((now.getUTCDay() + 6) % 7)) * DAY)
  const week = Math.floor((thursday - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / (7 * DAY)) + 1
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}

function base64url(bytes) {
  return randomBytes(bytes).toString('base64url')
}

function base32(length) {
  return Array.from({ length }, () => '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[randomInt(32)]).join('')
}

function format(date, options) {
  return new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...options }).format(date)
}
