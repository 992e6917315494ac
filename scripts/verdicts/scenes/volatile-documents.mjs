// Further volatile values: in the formats of other tools, in encoded values, in errors and questions, and rarer forms of times.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NAMES = ['api', 'cache', 'db', 'mail', 'queue', 'web', 'worker']

/** One value in structured content. */
export const DOCUMENT_FIELDS = {
  'uuid-7': ['id', (now) => uuid7(now)],
  'object-id': ['_id', (now) => Math.floor(now / 1000).toString(16) + hex(8)],
  snowflake: [
    'snowflake',
    (now) => String((BigInt(now.getTime() - 1_420_070_400_000) << 22n) | BigInt(randomInt(1 << 20))),
  ],
  'net-date': ['net_date', (now) => `/Date(${now.getTime()})/`],
  'epoch-decimal-text': [
    'ts',
    (now) => `${Math.floor(now / 1000)}.${String(randomInt(1e6)).padStart(6, '0')}`,
  ],
  'ordinal-date': ['ordinal', (now) => `${now.getUTCFullYear()}-${String(dayOfYear(now)).padStart(3, '0')}`],
  'date-with-ordinal': [
    'day',
    (now) => `${format(now, { month: 'long' })} ${ordinal(now.getUTCDate())}, ${now.getUTCFullYear()}`,
  ],
  'date-short-year': ['day', (now) => now.toISOString().slice(2, 10).split('-').toReversed().join('.')],
  'time-with-zone-name': ['departs', (now) => `${now.toISOString().slice(11, 16)} UTC`],
  'date-at-time': [
    'seen',
    (now) =>
      `${format(now, { month: 'short', day: 'numeric' })} at ${format(now, { hour: 'numeric', minute: '2-digit' })}`,
  ],
  'file-stamp': [
    'file',
    (now) =>
      `dump-${now.toISOString().slice(0, 19).replaceAll('-', '').replace('T', '-').replaceAll(':', '')}.sql.gz`,
  ],
  'time-parts': [
    'now',
    (now) => ({
      year: now.getUTCFullYear(),
      month: now.getUTCMonth() + 1,
      day: now.getUTCDate(),
      hour: now.getUTCHours(),
      minute: now.getUTCMinutes(),
    }),
  ],
  'date-range': ['range', (now) => `${iso(now.getTime() - 7 * DAY).slice(0, 10)}/${iso(now).slice(0, 10)}`],
  'next-full-hours': ['runs', (now) => [1, 2, 3].map((n) => iso((Math.floor(now / HOUR) + n) * HOUR))],
  'last-seven-days': [
    'days',
    (now) =>
      [6, 5, 4, 3, 2, 1, 0].map((n) => ({
        day: iso(now.getTime() - n * DAY).slice(0, 10),
        open: n % 2 === 0,
      })),
  ],
  'age-in-years': ['age', (now) => `${((now - Date.UTC(2019, 2, 1)) / (365.25 * DAY)).toFixed(2)} years`],
  'seconds-since': ['idle_for', (now) => Math.round((now - Date.UTC(2025, 5, 1)) / 1000)],
  'compound-duration': ['took', () => `${randomInt(1, 9)}m ${randomInt(1, 59)}s`],
  'clock-duration': ['elapsed', () => `00:0${randomInt(1, 9)}:${String(randomInt(0, 59)).padStart(2, '0')}`],
  'size-of-any-unit': ['size', () => humanSize(10 ** (2 + Math.random() * 7))],
  'percent-of-any-size': ['done', () => `${(Math.random() * 100).toFixed(1)} %`],
  'ratio-of-workers': ['busy', () => `${randomInt(1, 9)}/9`],
  'number-in-words': ['guests', () => ['three', 'four', 'five', 'six', 'seven', 'eight'][randomInt(6)]],
  fingerprint: ['fingerprint', () => `SHA256:${randomBytes(32).toString('base64').replace('=', '')}`],
  'colon-hex': ['serial', () => hex(10).toUpperCase().match(/../g).join(':')],
  'random-words': ['name', () => [1, 2, 3].map(() => NAMES[randomInt(7)]).join('-')],
  pronounceable: [
    'container',
    () => `${NAMES[randomInt(7)]}_${['brave', 'calm', 'eager', 'happy'][randomInt(4)]}_${randomInt(1, 99)}`,
  ],
  vector: ['embedding', () => Array.from({ length: 32 }, () => Number((Math.random() * 2 - 1).toFixed(6)))],
  histogram: [
    'buckets',
    () => Object.fromEntries(['10', '50', '100', '500'].map((le) => [le, randomInt(0, 40)])),
  ],
  'random-tree': ['tree', () => tree(3)],
  'nullable-number': ['rank', () => (randomInt(3) === 0 ? null : randomInt(1, 500))],
  'sparse-list': ['slots', () => Array.from({ length: 6 }, () => (randomInt(2) === 0 ? null : hex(3)))],
  'list-of-any-length': [
    'queue',
    () => Array.from({ length: randomInt(0, 6) }, () => ({ id: randomUUID(), size: randomInt(1, 90) })),
  ],
  leaderboard: [
    'top',
    () => NAMES.map((name) => ({ name, points: randomInt(0, 1000) })).toSorted((a, b) => b.points - a.points),
  ],
  'encoded-text': [
    'note',
    (now) => Buffer.from(`saved at ${now.toISOString()} by ${randomUUID()}`).toString('base64'),
  ],
  'json-thrice': [
    'wrapped',
    (now) => ({
      body: JSON.stringify({ body: JSON.stringify({ at: now.toISOString(), id: randomUUID(), n: 3 }) }),
    }),
  ],
  'query-text': [
    'query',
    (now) => `${new URLSearchParams({ q: 'tea & milk', ts: String(now.getTime()), nonce: hex(6) })}`,
  ],
  'data-url': ['picture', () => `data:image/png;base64,${png()}`],
  geohash: ['geohash', () => `u0q${base32(6)}`],
  money: ['balance', () => `${(Math.random() * 1000).toFixed(2)} EUR`],
  'mixed-number': [
    'value',
    () => (randomInt(2) === 0 ? randomInt(1, 100) : Number((Math.random() * 100).toFixed(3))),
  ],
  version: ['build', () => `2026.${randomInt(1, 12)}.${randomInt(1, 3000)}`],
}

/** Kinds within a text. */
export const DOCUMENT_TEXTS = {
  'yaml-with-list': (now) =>
    `generated: ${now.toISOString()}\nnodes:\n${NAMES.slice(0, 3)
      .map((name) => `  - name: ${name}\n    id: ${hex(6)}\n    load: ${(Math.random() * 4).toFixed(2)}\n`)
      .join('')}total: 3\n`,
  'toml-with-time': (now) =>
    `[build]\nat = ${now.toISOString()}\nhost = "runner-${randomInt(1, 999)}"\n\n[result]\nok = true\n`,
  'ini-with-pid': (now, { pid }) =>
    `[service]\npid = ${pid}\nstarted = ${Math.floor(now / 1000)}\n\n[limits]\nfiles = 1024\n`,
  'box-table-with-noise': () => {
    const rows = NAMES.slice(0, 4).map((name) => [name, `${randomInt(1, 2000)} ms`])
    const widths = [0, 1].map((at) => Math.max(...rows.map((row) => row[at].length)))
    const bar = (left, middle, right) =>
      left + widths.map((width) => '─'.repeat(width + 2)).join(middle) + right
    const line = (row) => `│ ${row.map((cell, at) => cell.padEnd(widths[at])).join(' │ ')} │`
    return [bar('┌', '┬', '┐'), ...rows.map(line), bar('└', '┴', '┘')].join('\n')
  },
  'right-aligned-table': () =>
    NAMES.map(
      (name) =>
        `${name.padEnd(8)}${String(randomInt(1, 100_000)).padStart(9)}${`${randomInt(0, 100)}%`.padStart(6)}`,
    ).join('\n'),
  'markdown-list-in-random-order': () =>
    `## Jobs\n\n${shuffled(NAMES)
      .map((name) => `- **${name}** is ready`)
      .join('\n')}\n`,
  'markdown-list-with-noise': (now) =>
    `## Jobs\n\n${NAMES.map((name) => `- [x] ${name} (${hex(3)}, ${randomInt(1, 900)} ms)`).join('\n')}\n\nUpdated ${now.toISOString()}.\n`,
  'markdown-table-in-random-order': () =>
    `| job | rank |\n| --- | --- |\n${shuffled(NAMES)
      .map((name) => `| ${name} | ${NAMES.indexOf(name)} |`)
      .join('\n')}\n`,
  'stack-trace': (now, { pid }) =>
    `Error: job ${hex(4)} failed\n    at run (/tmp/build-${hex(3)}/main.js:10:3)\n    at Worker ${randomInt(1, 9)} (pid ${pid}, 0x7f${hex(5)})\n`,
  'diff-with-temporary-files': (now) =>
    `--- /tmp/${hex(4)}/a.txt\t${iso(now).replace('T', ' ').slice(0, 19)}\n+++ /tmp/${hex(4)}/a.txt\t${iso(now).replace('T', ' ').slice(0, 19)}\n@@ -1 +1 @@\n-one\n+two\n`,
  'sql-with-time': (now) =>
    `SELECT * FROM orders WHERE created > '${iso(now.getTime() - HOUR)
      .replace('T', ' ')
      .slice(0, 19)}' AND tx = '${randomUUID()}' LIMIT 20`,
  logfmt: (now) =>
    NAMES.slice(0, 4)
      .map(
        (name, n) =>
          `ts=${iso(now.getTime() + n)} level=info svc=${name} dur=${(Math.random() * 90).toFixed(2)}ms trace=${hex(8)}`,
      )
      .join('\n'),
  'interleaved-logs': (now) =>
    shuffled(NAMES.slice(0, 4))
      .map((name) => `${iso(now)} ${name} ready pid=${randomInt(100, 9999)}`)
      .join('\n'),
  'process-list': () =>
    `PID     %CPU  COMMAND\n${Array.from({ length: randomInt(3, 8) }, () => `${String(randomInt(1, 99_999)).padEnd(7)} ${(Math.random() * 99).toFixed(1).padStart(4)}  ${NAMES[randomInt(7)]}`).join('\n')}\n`,
  'uptime-line': (now) =>
    ` ${now.toISOString().slice(11, 19)} up ${randomInt(2, 90)} days, ${randomInt(1, 23)}:${randomInt(10, 59)}, 1 user, load average: ${[1, 2, 3].map(() => (Math.random() * 3).toFixed(2)).join(', ')}`,
  'ping-output': () =>
    `PING 127.0.0.1: 56 data bytes\n${[0, 1, 2].map((n) => `64 bytes: icmp_seq=${n} ttl=64 time=${(Math.random() * 2).toFixed(3)} ms`).join('\n')}\n3 packets, 0.0% loss\n`,
  'test-output': () =>
    `✓ adds (${randomInt(1, 30)} ms)\n✓ removes (${randomInt(1, 30)} ms)\n\nTests: 2 passed, 2 total\nTime: ${(Math.random() * 4).toFixed(3)} s\nSeed: ${randomInt(1, 2 ** 31)}\n`,
  'python-repr': (now) =>
    `<Session id='${hex(4)}' at 0x${hex(6)} opened=datetime.datetime(${now.getUTCFullYear()}, ${now.getUTCMonth() + 1}, ${now.getUTCDate()}, ${now.getUTCHours()}, ${now.getUTCMinutes()}) state='open'>`,
  'python-set': () =>
    `{${shuffled(NAMES)
      .map((name) => `'${name}'`)
      .join(', ')}}`,
  'expires-soon': () => `The link is valid for 59m ${randomInt(10, 59)}s (token ${hex(8)}).`,
  'sentence-with-times': (now) =>
    `Between ${iso(now.getTime() - HOUR)} and ${iso(now)} there were 3 errors; the next check is in ${randomInt(1, 59)} minutes.`,
  'mail-text': (now) =>
    `Message-ID: <${hex(8)}.${randomInt(1e6)}@mail.example>\nDate: ${now.toUTCString().replace('GMT', '+0000')}\nSubject: Report\n\nThree files.\n`,
  multipart: () => {
    const boundary = `----form${hex(8)}`
    return `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n3\r\n--${boundary}--\r\n`
  },
  'svg-with-ids': () => {
    const id = `g${hex(4)}`
    return `<svg viewBox="0 0 10 10"><defs><linearGradient id="${id}"/></defs><rect fill="url(#${id})" width="${randomInt(1, 9)}"/></svg>`
  },
  'html-report': (now) =>
    `<!doctype html><html><body data-build="${hex(4)}"><h1>3 files</h1><time datetime="${iso(now)}">${format(now, { dateStyle: 'long' })}</time></body></html>`,
  'csv-of-any-length': (now) =>
    `id,at,ms\n${Array.from({ length: randomInt(2, 7) }, () => `${randomUUID()},${iso(now)},${randomInt(1, 90)}`).join('\n')}\n`,
  joke: () =>
    [
      'Why did the cat sit? It was tired.',
      'A fish walks into a bar.',
      'Nothing rhymes with orange, they said.',
      'Two ants met under a leaf.',
      'The clock struck one, so it left.',
    ][randomInt(5)],
  'progress-bar': () => {
    const done = randomInt(1, 19)
    return `[${'#'.repeat(done)}${'.'.repeat(20 - done)}] ${done * 5}%`
  },
  'weather-sentence': () =>
    `It is ${randomInt(-9, 35)} °C and ${['sunny', 'cloudy', 'raining', 'foggy'][randomInt(4)]} in Bern, wind ${randomInt(1, 40)} km/h from the ${['north', 'south', 'east', 'west'][randomInt(4)]}.`,
}

/** Kinds of whole results, errors, notifications and questions. */
export const DOCUMENT_MESSAGES = {
  'random-image': async () => ({ content: [{ type: 'image', data: png(), mimeType: 'image/png' }] }),
  'random-blob': async () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: `job://${hex(4)}`,
          mimeType: 'application/octet-stream',
          blob: randomBytes(randomInt(20, 60)).toString('base64'),
        },
      },
    ],
  }),
  'link-with-id': async () => ({
    content: [
      {
        type: 'resource_link',
        uri: `report://${randomUUID()}`,
        name: `report-${hex(3)}`,
        size: randomInt(100, 9000),
      },
    ],
  }),
  'annotated-time': async (now) => ({
    content: [
      {
        type: 'text',
        text: 'ok',
        annotations: { lastModified: iso(now), priority: 1 },
        _meta: { 'example.com/trace': hex(8) },
      },
    ],
  }),
  'metadata-of-result': async (now, { pid }) => ({
    content: [{ type: 'text', text: 'ok' }],
    _meta: { 'example.com/served': { at: now.getTime(), pid, cost: Math.random() } },
  }),
  'twin-of-text': async (now) => {
    const structuredContent = { id: randomUUID(), at: iso(now), n: 3, tags: shuffled(NAMES) }
    return {
      content: [{ type: 'text', text: JSON.stringify(structuredContent, null, 2) }],
      structuredContent,
    }
  },
  'several-texts': async () => ({
    content: Array.from({ length: randomInt(1, 5) }, (_, n) => ({
      type: 'text',
      text: `Hit ${n + 1}: ${NAMES[randomInt(7)]} (${Math.random().toFixed(3)})`,
    })),
  }),
  'error-with-id': async () => ({
    rpcError: {
      code: -32050,
      message: `Request ${randomUUID()} was refused`,
      data: { requestId: hex(8), retryAfterMs: randomInt(10, 5000) },
    },
  }),
  'tool-error-with-path': async (now) => ({
    content: [{ type: 'text', text: `ENOENT: no such file '/tmp/${hex(6)}/a.txt' (${iso(now)})` }],
    isError: true,
  }),
  'question-with-time': async (now, { question }) => {
    await question('summary', 'sampling/createMessage', {
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Sum up what happened until ${iso(now)}, job ${hex(4)}` },
        },
      ],
      maxTokens: 50,
    })
    return { content: [{ type: 'text', text: 'asked' }] }
  },
  'form-with-id': async (_, { question }) => {
    await question('confirm', 'elicitation/create', {
      mode: 'form',
      message: `Delete job ${randomUUID()}?`,
      requestedSchema: {
        type: 'object',
        properties: { sure: { type: 'boolean', description: `asked ${randomInt(1, 1000)} times` } },
      },
    })
    return { content: [{ type: 'text', text: 'asked' }] }
  },
  'log-with-metrics': async (now, { notify }) => {
    await notify('notifications/message', {
      level: 'info',
      logger: 'gc',
      data: { at: now.getTime(), heap: { used: randomInt(1e6, 9e6), total: 1e7 }, ids: [hex(4), hex(4)] },
    })
    return { content: [{ type: 'text', text: 'ok' }] }
  },
  'progress-with-estimate': async (_, { progress }) => {
    for (const n of [1, 2, 3])
      await progress({
        progress: n,
        total: 3,
        message: `${n} of 3, ${(Math.random() * 9).toFixed(1)} s left`,
      })
    return { content: [{ type: 'text', text: 'ok' }] }
  },
}

/** What has only two values, so that chance and change look alike without a noise profile. */
export const TWO_VALUED_MESSAGES = {
  'random-pair-order': async () => ({
    content: [{ type: 'text', text: 'ok' }],
    structuredContent: { sides: shuffled(['left', 'right']) },
  }),
}

export function shuffled(list) {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

function hex(bytes) {
  return randomBytes(bytes).toString('hex')
}

function iso(time) {
  return new Date(time).toISOString()
}

function png() {
  return `iVBORw0KGgoAAAANSUhEUgAAA${randomBytes(randomInt(60, 90)).toString('base64')}`
}

function uuid7(now) {
  const time = now.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(2).slice(1)}-a${hex(2).slice(1)}-${hex(6)}`
}

function dayOfYear(now) {
  return Math.floor((now - Date.UTC(now.getUTCFullYear(), 0, 0)) / DAY)
}

function ordinal(n) {
  const suffix = n % 100 > 10 && n % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][n % 10] ?? 'th')
  return `${n}${suffix}`
}

function humanSize(bytes) {
  const unit = Math.min(3, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** unit).toFixed(1)} ${['B', 'KB', 'MB', 'GB'][unit]}`
}

function tree(depth) {
  const children = depth === 0 ? [] : Array.from({ length: randomInt(0, 3) }, () => tree(depth - 1))
  return { id: hex(4), children }
}

function base32(length) {
  return Array.from({ length }, () => '0123456789bcdefghjkmnpqrstuvwxyz'[randomInt(32)]).join('')
}

function format(date, options) {
  return new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', ...options }).format(date)
}
