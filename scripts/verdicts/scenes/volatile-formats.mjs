// Volatile values in the formats of other trades, and values that depend on each other.
import { createHash, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { shuffled } from './volatile-documents.mjs'

const DAY = 24 * 3_600_000
const CITIES = ['Bern', 'Oslo', 'Rome', 'Paris', 'Prague', 'Vienna']

/** One value in structured content. */
export const FORMAT_FIELDS = {
  'uuid-urn': ['urn', () => `urn:uuid:${randomUUID()}`],
  'uuid-braces': ['guid', () => `{${randomUUID().toUpperCase()}}`],
  base58: ['address', () => text('123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz', 34)],
  'nano-id': ['key', () => text('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-', 21)],
  ipv6: ['peer', () => `2001:db8::${hex(2)}:${hex(2)}:${hex(2)}`],
  'container-name': [
    'container',
    () =>
      `${pick(['brave', 'calm', 'eager', 'happy', 'jolly', 'kind', 'lucid'])}_${pick(['bell', 'curie', 'euler', 'gauss', 'hopper', 'noether', 'turing'])}`,
  ],
  'excel-date': ['cell', (now) => Math.round((now / DAY + 25569) * 1e5) / 1e5],
  'julian-day': ['julian_day', (now) => Math.round((now / DAY + 2440587.5) * 1e5) / 1e5],
  'net-ticks': ['ticks', (now) => String(621355968000000000n + BigInt(now.getTime()) * 10000n)],
  'extended-json': ['created', (now) => ({ $date: { $numberLong: String(now.getTime()) } })],
  'protobuf-time': ['at', (now) => ({ seconds: String(Math.floor(now / 1000)), nanos: randomInt(1e9) })],
  'hex-epoch': ['stamp', (now) => Math.floor(now / 1000).toString(16)],
  'iso-nanoseconds': [
    'at',
    (now) => now.toISOString().replace('Z', `${String(randomInt(1e6)).padStart(6, '0')}Z`),
  ],
  'iso-week-day': ['week_day', (now) => `${weekOf(now)}-${now.getUTCDay() || 7}`],
  'german-date': ['datum', (now) => local(now, 'de-DE', { dateStyle: 'long' })],
  'french-date': ['jour', (now) => local(now, 'fr-FR', { dateStyle: 'full' })],
  'chinese-date': ['riqi', (now) => local(now, 'zh-CN', { dateStyle: 'long' })],
  'minutes-from-now': ['starts', () => `in ${randomInt(2, 50)} minutes`],
  'set-cookie': [
    'cookie',
    (now) =>
      `sid=${text('abcdef0123456789', 32)}; Expires=${new Date(now.getTime() + DAY).toUTCString()}; Path=/; HttpOnly`,
  ],
  'weak-etag': [
    'etag',
    () => `W/"${randomInt(100, 9999).toString(16)}-${randomBytes(20).toString('base64').slice(0, 27)}"`,
  ],
  'sum-of-parts': [
    'usage',
    () => {
      const [a, b] = [randomInt(1, 500), randomInt(1, 500)]
      return { input: a, output: b, total: a + b }
    },
  ],
  'list-with-count': [
    'found',
    () => {
      const items = Array.from({ length: randomInt(2, 7) }, () => hex(4))
      return { count: items.length, items }
    },
  ],
  'page-with-digest': [
    'page',
    () => {
      const body = `Body ${hex(8)}`
      return { body, sha256: createHash('sha256').update(body).digest('hex') }
    },
  ],
  'optional-members-of-many': [
    'flags',
    () => Object.fromEntries(CITIES.filter(() => Math.random() < 0.5).map((city) => [city, true])),
  ],
  'counts-by-city': ['visits', () => Object.fromEntries(CITIES.map((city) => [city, randomInt(0, 900)]))],
  'shuffled-members': [
    'by_city',
    () => Object.fromEntries(shuffled(CITIES).map((city, n) => [city, { rank: n }])),
  ],
  'top-three': [
    'top',
    () =>
      shuffled(CITIES)
        .slice(0, 3)
        .map((city, n) => ({ place: n + 1, city })),
  ],
  rgba: [
    'colour',
    () => `rgba(${randomInt(256)}, ${randomInt(256)}, ${randomInt(256)}, ${Math.random().toFixed(2)})`,
  ],
  compressed: ['payload', (now) => gzipSync(JSON.stringify({ at: now, id: hex(8) })).toString('base64')],
  'matrix-of-decimals': [
    'weights',
    () => [1, 2, 3].map(() => [1, 2, 3].map(() => Number((Math.random() * 2 - 1).toFixed(4)))),
  ],
  'null-or-object': ['winner', () => (randomInt(3) === 0 ? null : { name: pick(CITIES), id: hex(4) })],
  'union-of-kinds': [
    'event',
    () =>
      pick([
        { kind: 'click', x: randomInt(900) },
        { kind: 'key', code: hex(1) },
        { kind: 'scroll', by: randomInt(-90, 90) },
      ]),
  ],
}

/** Kinds within a text. */
export const FORMAT_TEXTS = {
  'feed-with-dates': (now) =>
    `<rss><channel><lastBuildDate>${now.toUTCString()}</lastBuildDate><item><guid>${randomUUID()}</guid><title>Rain</title></item></channel></rss>`,
  'calendar-file': (now) =>
    `BEGIN:VEVENT\r\nUID:${randomUUID()}@example.com\r\nDTSTAMP:${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z\r\nSUMMARY:Stand-up\r\nEND:VEVENT\r\n`,
  prometheus: (now) =>
    `# TYPE up gauge\nup{pod="web-${hex(4)}"} 1\nrequests_total{code="200"} ${randomInt(1, 90000)}\nrequests_total{code="500"} ${randomInt(0, 90)} ${now.getTime()}\n`,
  'coloured-log': (now) =>
    `\u001b[90m${now.toISOString().slice(11, 23)}\u001b[0m \u001b[32mINFO\u001b[0m ready in ${randomInt(2, 900)} ms`,
  'hex-dump': () =>
    [0, 16]
      .map(
        (at) =>
          `${at.toString(16).padStart(8, '0')}  ${randomBytes(16).toString('hex').match(/../g).join(' ')}`,
      )
      .join('\n'),
  'junit-report': () =>
    `<testsuite name="api" tests="2" time="${(Math.random() * 2).toFixed(3)}" hostname="ci-${hex(2)}"><testcase name="adds" time="${Math.random().toFixed(3)}"/><testcase name="deletes" time="${Math.random().toFixed(3)}"/></testsuite>`,
  'curl-timing': () =>
    `  % Total    % Received\n100  ${randomInt(200, 999)}  100  ${randomInt(200, 999)}    0     0   ${randomInt(1000, 9999)}      0 --:--:-- --:--:-- --:--:-- ${randomInt(1000, 9999)}\n`,
  'file-times': (now) =>
    `-rw-r--r-- 1 ada staff ${randomInt(10, 9999)} ${now.toISOString().replace('T', ' ').replace('Z', '000000')} +0000 a.txt\n`,
  'docker-table': () =>
    `CONTAINER ID   IMAGE     STATUS\n${hex(6)}   nginx     Up ${randomInt(2, 50)} minutes\n${hex(6)}   redis     Up ${randomInt(2, 50)} minutes\n`,
  'go-trace': () =>
    `goroutine ${randomInt(1, 900)} [running]:\nmain.main()\n\t/srv/main.go:12 +0x${hex(2)}\nexit status 2`,
  'java-log': (now, { pid }) =>
    `${now.toISOString().slice(0, 23).replace('T', ' ').replace('.', ',')} INFO [main-${randomInt(1, 20)}] c.e.App - Started in ${(Math.random() * 9).toFixed(3)} seconds (process ${pid})`,
  'sentence-with-list': () =>
    `Visited ${shuffled(CITIES).slice(0, 3).join(', ')} and wrote ${randomInt(2, 90)} notes.`,
  'html-form': () =>
    `<form><input type="hidden" name="csrf" value="${randomBytes(24).toString('base64')}"><input name="q" value=""></form>`,
}

/** Kinds of whole results and of messages. */
export const FORMAT_MESSAGES = {
  'totals-of-progress': async (_, { progress }) => {
    const total = randomInt(300, 900)
    for (const part of [0.25, 0.5, 1])
      await progress({
        progress: Math.round(total * part),
        total,
        message: `${Math.round(total * part)} of ${total} bytes`,
      })
    return { content: [{ type: 'text', text: 'ok' }] }
  },
  'log-of-requests': async (now, { notify }) => {
    for (const path of ['/a', '/b'])
      await notify('notifications/message', {
        level: 'info',
        logger: 'http',
        data: { path, ms: randomInt(1, 90), trace: `00-${hex(16)}-${hex(8)}-01`, at: now.toISOString() },
      })
    return { content: [{ type: 'text', text: 'ok' }] }
  },
  'error-with-times': async (now) => ({
    rpcError: {
      code: -32000,
      message: `rate limited until ${new Date(now.getTime() + 60_000).toISOString()}`,
      data: { trace: [hex(8), hex(8)], retry: { after: randomInt(1, 60) } },
    },
  }),
  'links-in-random-order': async () => ({
    content: shuffled(CITIES.slice(0, 4)).map((name) => ({
      type: 'resource_link',
      name,
      uri: `city://${name}`,
    })),
  }),
  audio: async () => ({
    content: [{ type: 'audio', mimeType: 'audio/wav', data: `UklGR${randomBytes(90).toString('base64')}` }],
  }),
}

function text(letters, length) {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
}

function pick(list) {
  return list[randomInt(list.length)]
}

function hex(bytes) {
  return randomBytes(bytes).toString('hex')
}

function local(now, language, options) {
  return new Intl.DateTimeFormat(language, { timeZone: 'UTC', ...options }).format(now)
}

function weekOf(now) {
  const thursday = new Date(now.getTime() + (3 - ((now.getUTCDay() + 6) % 7)) * DAY)
  const week = Math.floor((thursday - Date.UTC(thursday.getUTCFullYear(), 0, 1)) / (7 * DAY)) + 1
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}
