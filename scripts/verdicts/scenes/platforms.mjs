// Answers as code hosts, chats, databases, browsers, queues and monitors give them. Nothing here was looked at while the judgement was made.
import { service } from './services.mjs'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A tool whose answer is a text. */
function platformText(name, shape, { document, text, changes }) {
  const whole = async (current, context) => ({
    content: [{ type: 'text', text: context.fill(text(current, context)) }],
  })
  return service(name, shape, { document, whole, changes, path: 'result.content[0].text' })
}

export const platformScenes = [
  service('pull-request', 'code hosts', {
    document: {
      number: 42,
      state: 'open',
      mergeable: true,
      draft: false,
      labels: ['bug', 'ui'],
      reviewers: ['ada'],
      additions: 120,
      base: 'main',
    },
    answer: (pull, { some, fill }) => ({
      ...pull,
      node_id: `PR_${fill('{{hex}}{{hex}}')}`,
      head: { sha: fill('{{hex}}{{hex}}{{hex}}{{hex}}').slice(0, 40), ref: 'fix' },
      updated_at: some.time().toISOString(),
      _links: { self: { href: `https://api.example/pulls/42?t=${fill('{{hex}}')}` } },
      rate: { limit: 5000, remaining: some.int(3000, 5000), reset: Math.floor(some.time() / 1000) + 1800 },
    }),
    changes: [
      ['number', { set: ['number', 43] }],
      ['state', { set: ['state', 'closed'] }],
      ['mergeable', { set: ['mergeable', null] }, ''],
      ['draft', { set: ['draft', true] }],
      ['label-gone', { drop: 'labels[1]' }],
      ['reviewer', { set: ['reviewers[0]', 'bob'] }],
      ['additions', { set: ['additions', 121] }],
      ['base', { set: ['base', 'master'] }],
      ['base-gone', { drop: 'base' }],
    ],
  }),
  service('thread', 'chats', {
    document: {
      channel: 'general',
      messages: [
        { user: 'U1', text: 'Deploy at 5?' },
        { user: 'U2', text: 'Yes :+1:' },
      ],
      has_more: false,
      reactions: { thumbsup: 2 },
    },
    answer: ({ messages, ...rest }, { some, fill }) => ({
      ...rest,
      messages: messages.map((message, n) => ({
        ...message,
        ts: `${Math.floor(some.time() / 1000) + n}.${String(some.int(100_000, 999_999))}`,
        client_msg_id: fill('{{uuid}}'),
      })),
      response_metadata: { next_cursor: Buffer.from(`next:${fill('{{hex}}')}`).toString('base64') },
    }),
    changes: [
      ['text', { replace: ['messages[0].text', '5', '6'] }],
      ['emoji', { replace: ['messages[1].text', '+1', '-1'] }],
      ['user', { set: ['messages[1].user', 'U3'] }],
      ['message-gone', { drop: 'messages[1]' }, ''],
      ['has-more', { set: ['has_more', true] }],
      ['reactions', { set: ['reactions.thumbsup', 3] }],
      ['reaction-new', { add: ['reactions.tada', 1] }, 'tada'],
    ],
  }),
  platformText('query-plan', 'databases', {
    document: { rows: 42, node: 'Index Scan', table: 'orders', filter: "status = 'open'" },
    text: ({ rows, node, table, filter }, { some }) =>
      `${node} using ${table}_pkey on ${table}  (cost=0.29..8.31 rows=${rows} width=72) (actual time=${some.part(0.01, 0.09).toFixed(3)}..${some.part(0.1, 0.9).toFixed(3)} rows=${rows} loops=1)\n  Filter: (${filter})\nPlanning Time: ${some.part(0.1, 0.4).toFixed(3)} ms\nExecution Time: ${some.part(0.5, 3).toFixed(3)} ms`,
    changes: [
      ['node', { set: ['node', 'Seq Scan'] }, 'Seq'],
      ['rows', { set: ['rows', 43] }],
      ['table', { set: ['table', 'order_lines'] }, 'order_lines'],
      ['filter', { replace: ['filter', 'open', 'paid'] }],
    ],
  }),
  service('result-rows', 'databases', {
    document: {
      columns: ['id', 'name', 'total'],
      rows: [
        [1, 'tea', '12.50'],
        [2, 'cup', '3.00'],
        [3, 'pot', null],
      ],
      affected: 0,
    },
    answer: ({ columns, rows, affected }, { some, fill }) => ({
      columns,
      rows,
      affected,
      took_ms: some.part(0.4, 9),
      connection: some.int(1000, 60_000),
      query_id: fill('{{uuid}}'),
    }),
    changes: [
      ['cell', { set: ['rows[0][1]', 'coffee'] }],
      ['decimal', { set: ['rows[0][2]', '12.5'] }],
      ['type', { set: ['rows[1][2]', 3] }],
      ['null', { set: ['rows[2][2]', ''] }, ''],
      ['column', { set: ['columns[2]', 'sum'] }],
      ['column-order', { swap: ['columns', 0, 1] }, ''],
      ['row-order', { swap: ['rows', 0, 1] }, ''],
      ['row-gone', { drop: 'rows[2]' }, ''],
      ['affected', { set: ['affected', 1] }],
    ],
  }),
  platformText('snapshot', 'browsers', {
    document: { title: 'Checkout', button: 'Pay now', price: '€ 12.50', disabled: '' },
    text: ({ title, button, price, disabled }, { some, fill }) =>
      `- Page URL: https://shop.example/checkout?session={{uuid}}\n- Page Title: ${title}\n- generic [ref=e${some.int(2, 90)}]:\n  - heading "${title}" [level=1] [ref=e${some.int(91, 99)}]\n  - text: ${price}\n  - button "${button}"${disabled} [ref=e${some.int(100, 999)}]\n- loaded in {{ms}} ms${fill('')}`,
    changes: [
      ['title', { set: ['title', 'Check out'] }, ''],
      ['button', { set: ['button', 'Buy now'] }, 'Buy'],
      ['price', { set: ['price', '€ 13.50'] }, '13'],
      ['currency', { set: ['price', '$ 12.50'] }, ''],
      ['disabled', { set: ['disabled', ' [disabled]'] }, 'disabled'],
    ],
  }),
  service('queue', 'queues', {
    document: {
      name: 'mails',
      paused: false,
      jobs: [
        { name: 'send', priority: 1, attempts: 0 },
        { name: 'bounce', priority: 5, attempts: 2 },
      ],
      limit: { max: 10, duration: 1000 },
    },
    answer: ({ jobs, ...rest }, { some, fill }) => ({
      ...rest,
      counts: { waiting: some.int(0, 40), active: some.int(0, 4), completed: some.int(1000, 9000) },
      jobs: jobs.map((job) => ({
        ...job,
        id: fill('{{hex}}'),
        timestamp: some.time().getTime(),
        lag: some.int(1, 90),
      })),
      memory: `${some.part(40, 90).toFixed(1)} MB`,
    }),
    changes: [
      ['paused', { set: ['paused', true] }],
      ['priority', { set: ['jobs[0].priority', 2] }],
      ['attempts', { set: ['jobs[1].attempts', 3] }],
      ['job', { set: ['jobs[0].name', 'sent'] }],
      ['jobs-exchanged', { swap: ['jobs', 0, 1] }, ''],
      ['max', { set: ['limit.max', 11] }],
      ['duration', { set: ['limit.duration', 100] }],
    ],
  }),
  service('objects', 'file stores', {
    document: {
      bucket: 'media',
      keys: ['a/1.png', 'a/2.png', 'b/3.pdf'],
      sizes: [1024, 2048, 4096],
      storage: 'STANDARD',
      truncated: false,
      expires: 3600,
    },
    answer: ({ bucket, keys, sizes, storage, truncated, expires }, { some, fill }) => ({
      bucket,
      truncated,
      contents: keys.map((key, n) => ({
        key,
        size: sizes[n],
        storage,
        etag: `"${fill('{{hex}}{{hex}}{{hex}}').slice(0, 32)}"`,
        url: `https://${bucket}.store.example/${key}?X-Date=${some
          .time()
          .toISOString()
          .replaceAll(/[-:]|\.\d+/g, '')}&X-Expires=${expires}&X-Signature=${fill('{{hex}}{{hex}}')}`,
      })),
    }),
    changes: [
      ['key', { replace: ['keys[1]', '2', '4'] }, ''],
      ['size', { set: ['sizes[0]', 1025] }],
      ['storage', { set: ['storage', 'GLACIER'] }],
      ['truncated', { set: ['truncated', true] }],
      ['bucket', { set: ['bucket', 'video'] }],
      ['expires', { set: ['expires', 900] }],
      ['keys-exchanged', { swap: ['keys', 0, 1] }, ''],
    ],
  }),
  service('results', 'search', {
    document: {
      hits: [
        ['h1', 'Kettle'],
        ['h2', 'Tea pot'],
        ['h3', 'Cup'],
      ],
      facets: { kitchen: 3, garden: 0 },
      total: 3,
      spelling: null,
    },
    answer: ({ hits, facets, total, spelling }, { some, fill }) => ({
      total,
      spelling,
      facets,
      took: some.int(1, 30),
      hits: hits.map(([id, title], n) => ({
        id,
        title,
        score: Math.round(some.part(9 - n, 9.4 - n) * 1e4) / 1e4,
        highlight: `<em>${title}</em>`,
      })),
      scroll: fill('{{hex}}{{hex}}'),
    }),
    changes: [
      ['title', { set: ['hits[0][1]', 'Boiler'] }],
      ['ranking', { swap: ['hits', 0, 1] }, ''],
      ['hit-gone', { drop: 'hits[2]' }, ''],
      ['facet', { set: ['facets.kitchen', 4] }],
      ['facet-gone', { drop: 'facets.garden' }, 'garden'],
      ['total', { set: ['total', 30] }],
      ['spelling', { set: ['spelling', 'kettle'] }],
    ],
  }),
  platformText('disk', 'systems', {
    document: { host: 'web-1', mount: '/data', threshold: 90, status: 'healthy' },
    text: ({ host, mount, threshold, status }, { some }) =>
      `${host}: up ${some.int(2, 9)} days, ${some.int(1, 23)} hours and ${some.int(1, 59)} minutes\nload average: ${some.part(0, 2).toFixed(2)}, ${some.part(0, 2).toFixed(2)}, ${some.part(0, 2).toFixed(2)}\n${mount} ${some.int(20, 80)} % used (warning at ${threshold} %)\nMemory: ${some.int(1, 7)},${some.int(100, 999)} MiB free\nStatus: ${status}\n`,
    changes: [
      ['host', { set: ['host', 'web-2'] }],
      ['mount', { set: ['mount', '/var'] }, 'var'],
      ['threshold', { set: ['threshold', 95] }],
      ['status', { set: ['status', 'degraded'] }],
    ],
  }),
  service('appointment', 'calendars', {
    document: {
      title: 'Stand-up',
      minutes: 15,
      days: 1,
      attendees: ['ada', 'bob'],
      room: 'Blue',
      zone: 'Europe/Zurich',
      recurring: ['MO', 'WE'],
    },
    answer: ({ minutes, days, attendees, ...rest }, { some, fill }) => {
      const start = some.time().getTime() + days * DAY
      return {
        ...rest,
        id: `${fill('{{hex}}')}_${fill('{{hex}}')}`,
        start: new Date(start).toISOString(),
        end: new Date(start + minutes * 60_000).toISOString(),
        minutes,
        attendees: attendees.map((name) => ({ name, status: 'accepted' })),
        etag: `"${some.time().getTime()}000"`,
      }
    },
    changes: [
      ['title', { set: ['title', 'Sit-down'] }],
      ['minutes', { set: ['minutes', 30] }],
      ['attendee', { set: ['attendees[1]', 'cem'] }],
      ['attendee-gone', { drop: 'attendees[1]' }, ''],
      ['room', { set: ['room', 'Red'] }],
      ['zone', { set: ['zone', 'Europe/Berlin'] }],
      ['recurring', { swap: ['recurring', 0, 1] }, ''],
    ],
  }),
]
