// Volatile values as code hosts, chats, stores, browsers, queues and monitors give them.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { shuffled } from './volatile-documents.mjs'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** One value in structured content. */
export const PLATFORM_FIELDS = {
  'page-cursor': [
    'next',
    () => Buffer.from(JSON.stringify({ after: randomInt(1e6), v: 1 })).toString('base64'),
  ],
  'express-etag': [
    'etag',
    () => `W/"${randomInt(1e4).toString(16)}-${randomBytes(10).toString('base64url')}"`,
  ],
  'signed-link': [
    'link',
    (now) =>
      `https://s3.example/b/k.png?X-Amz-Date=${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}&X-Amz-Expires=900&X-Amz-Signature=${hex(32)}`,
  ],
  'limit-headers': [
    'limits',
    (now) => ({
      limit: 5000,
      remaining: randomInt(4000, 5000),
      used: randomInt(1000),
      reset: Math.floor(now / 1000) + 1200,
    }),
  ],
  'memory-figures': [
    'memory',
    () => ({ rss: randomInt(4e7, 9e7), heapUsed: randomInt(1e7, 4e7), external: randomInt(1e6, 4e6) }),
  ],
  'heap-text': [
    'heap',
    () => `${(20 + Math.random() * 30).toFixed(2)} MB of ${(64 + Math.random() * 9).toFixed(2)} MB`,
  ],
  'ordered-by-score': [
    'hits',
    () =>
      ['tea', 'cup', 'pot', 'jug']
        .map((name) => ({ name, score: Math.random() }))
        .toSorted((one, other) => other.score - one.score),
  ],
  'id-as-key': ['sessions', () => ({ [randomUUID()]: { user: 'ada', calls: randomInt(90) } })],
  'swiss-number': ['amount', () => `${randomInt(1, 9)}’${randomInt(100, 999)}.${randomInt(10, 99)}`],
  'german-number': ['betrag', () => `${randomInt(1, 9)}.${randomInt(100, 999)},${randomInt(10, 99)} €`],
  'indian-number': ['rupees', () => `₹${randomInt(1, 9)},${randomInt(10, 99)},${randomInt(100, 999)}`],
  'thread-id': ['thread', (now) => `${Math.floor(now / 1000)}.${String(randomInt(1e6)).padStart(6, '0')}`],
  'snowflake-id': [
    'message',
    (now) => String((BigInt(now.getTime() - 1_420_070_400_000) << 22n) + BigInt(randomInt(4_000_000))),
  ],
  'mongo-id': ['_id', (now) => Math.floor(now / 1000).toString(16) + hex(8)],
  ksuid: ['event', () => base62(27)],
  'trace-header': [
    'trace',
    () => ({ traceparent: `00-${hex(16)}-${hex(8)}-01`, baggage: `user=ada,req=${hex(3)}` }),
  ],
  'retry-after': ['retryAfter', () => randomInt(1, 60)],
  'http-date-header': ['modified', (now) => now.toUTCString()],
  'window-of-counts': [
    'series',
    (now) => [3, 2, 1, 0].map((n) => [Math.floor(now / MINUTE) * 60 - n * 60, randomInt(100)]),
  ],
  'queue-depths': ['queues', () => ({ mails: randomInt(90), images: randomInt(90), dead: randomInt(3) })],
  'latency-quantiles': ['latency', () => ({ p50: ms(9), p95: ms(90), p99: ms(400), max: ms(900) })],
  'jwt-token': [
    'token',
    (now) =>
      ['eyJhbGciOiJIUzI1NiJ9', code({ sub: 'ada', iat: Math.floor(now / 1000) }), base64(32)].join('.'),
  ],
  'short-lived-user': ['lease', () => ({ username: `v-token-app-${base62(20)}`, password: base64(15) })],
  'build-number': [
    'build',
    (now) => `${now.toISOString().slice(0, 10).replaceAll('-', '')}.${randomInt(1, 90)}`,
  ],
  'random-members-order': [
    'env',
    () => Object.fromEntries(shuffled(['A', 'B', 'C', 'D']).map((name) => [name, name.toLowerCase()])),
  ],
}

/** A whole text. */
export const PLATFORM_TEXTS = {
  'words-of-duration': () => `Finished in ${randomInt(1, 5)} minutes and ${randomInt(2, 59)} seconds.`,
  'git-log-line': (now) =>
    `${hex(4).slice(0, 7)} ${now.toISOString().slice(0, 10)} Ada: fix the kettle (#42)`,
  'page-refs': () => `- button "Pay" [ref=e${randomInt(1, 99)}]\n- link "Back" [ref=e${randomInt(100, 999)}]`,
  'query-times': () =>
    `Seq Scan on t (cost=0.00..1.05 rows=5) (actual time=${ms(1)}..${ms(2)} rows=5 loops=1)\nPlanning Time: ${ms(1)} ms\nExecution Time: ${ms(3)} ms`,
  'weather-report': () =>
    `Currently ${randomInt(5, 25)} °C (feels like ${randomInt(5, 25)} °C), wind ${randomInt(1, 40)} km/h ${pick(['N', 'NE', 'E', 'SE', 'S', 'SW', 'W'])}, humidity ${randomInt(30, 99)} %`,
  'last-seen': (now) =>
    `Last seen ${new Date(now.getTime() - 3 * HOUR).toISOString().slice(0, 16).replace('T', ' ')} UTC (3 hours ago)`,
  'pod-lines': () =>
    ['web', 'api']
      .map((name) => `${name}-${hex(5).slice(0, 9)}-${base36(5)}   1/1   Running   0   ${randomInt(2, 59)}m`)
      .join('\n'),
  'uptime-of-host': (now) =>
    ` ${now.toISOString().slice(11, 19)} up ${randomInt(1, 90)} days, ${randomInt(1, 23)}:${randomInt(10, 59)},  ${randomInt(1, 5)} users,  load average: ${ms(2)}, ${ms(2)}, ${ms(2)}`,
  'transfer-progress': () =>
    `Downloaded ${randomInt(10, 99)} of 100 files (${(Math.random() * 9).toFixed(1)} MB/s, ETA 00:${randomInt(10, 59)})`,
}

function hex(bytes) {
  return randomBytes(bytes).toString('hex')
}

function base64(bytes) {
  return randomBytes(bytes).toString('base64url')
}

function base62(length) {
  return of('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789', length)
}

function base36(length) {
  return of('abcdefghijklmnopqrstuvwxyz0123456789', length)
}

function of(letters, length) {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join('')
}

function code(value) {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function pick(list) {
  return list[randomInt(list.length)]
}

function ms(most) {
  return Math.round((most / 3 + Math.random() * most) * 1000) / 1000
}
