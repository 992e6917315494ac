// Answers as services of many kinds give them: what varies and what changes is often in the same list, text or message.
import { randomInt } from 'node:crypto'
import { shuffled } from './volatile-documents.mjs'

const DAY = 24 * 3_600_000

/** A tool whose structured content, or whole result, is made from the document. `context.some` gives values that vary only beside noise. */
export function service(
  name,
  shape,
  { document, answer, whole, changes, path = 'result.structuredContent' },
) {
  return {
    name,
    shape,
    document,
    path,
    play: async ({ call }) => call(name),
    tools: {
      [name]: async (current, context) => {
        const all = { ...context, some: someOf(context) }
        if (whole !== undefined) return whole(current, all)
        return { content: [{ type: 'text', text: 'ok' }], structuredContent: await answer(current, all) }
      },
    },
    changes: changes.map(([id, operation, token]) => ({
      id,
      ...operation,
      ...(token !== undefined && { token }),
    })),
  }
}

function someOf({ isNoisy, now }) {
  return {
    int: (from, to) => (isNoisy ? randomInt(from, to) : from),
    part: (from, to) => (isNoisy ? from + Math.random() * (to - from) : from),
    order: (list) => (isNoisy ? shuffled(list) : list),
    pick: (list) => (isNoisy ? list[randomInt(list.length)] : list[0]),
    time: () => (isNoisy ? now() : new Date(Date.UTC(2024, 4, 1, 8))),
  }
}

function say(text) {
  return { content: [{ type: 'text', text }] }
}

export const serviceScenes = [
  service('forecast', 'weather', {
    document: {
      unit: 'C',
      icons: ['sun', 'rain', 'snow'],
      alert: null,
      place: { name: 'Bern', lat: 46.95, lon: 7.45 },
    },
    answer: ({ unit, icons, alert, place }, { some }) => ({
      place,
      unit,
      alert,
      days: icons.map((icon, n) => ({
        day: new Date(some.time().getTime() + n * DAY).toISOString().slice(0, 10),
        icon,
        high: Math.round(some.part(10, 20) * 10) / 10,
        wind: { speed: some.int(0, 40), from: some.pick(['N', 'E', 'S', 'W']) },
      })),
    }),
    changes: [
      ['unit', { set: ['unit', 'F'] }],
      ['icon', { set: ['icons[1]', 'hail'] }],
      ['icon-of-last', { set: ['icons[2]', 'sun'] }],
      ['alert', { set: ['alert', { level: 2 }] }],
      ['longitude-sign', { set: ['place.lon', -7.45] }],
      ['day-gone', { drop: 'icons[2]' }],
      ['day-more', { add: ['icons[3]', 'sun'] }],
    ],
  }),
  service('issues', 'trackers', {
    document: {
      open: [
        { number: 7, title: 'Crash on start', labels: ['bug', 'p1'], assignee: 'ada' },
        { number: 9, title: 'Dark mode', labels: [], assignee: null },
        { number: 12, title: 'Slow list', labels: ['perf'], assignee: 'bob' },
      ],
      dueDays: 14,
      closed: '2024-03-01T10:00:00Z',
    },
    answer: ({ open, dueDays, closed }, { some, beside }) => ({
      total: open.length,
      last_closed: closed,
      nodes: open.map((issue) => ({
        ...issue,
        updated: new Date(some.time().getTime() - issue.number * 60_000).toISOString(),
        due: new Date(some.time().getTime() + dueDays * DAY).toISOString().slice(0, 10),
        reactions: some.int(0, 50),
        ...beside(),
      })),
    }),
    changes: [
      ['title', { replace: ['open[0].title', 'start', 'exit'] }],
      ['label-gone', { drop: 'open[0].labels[1]' }],
      ['label-new', { add: ['open[1].labels[0]', 'ui'] }],
      ['unassigned', { set: ['open[2].assignee', null] }],
      ['assigned', { set: ['open[1].assignee', 'ada'] }],
      ['number', { set: ['open[1].number', 10] }],
      ['sorted-otherwise', { swap: ['open', 0, 2] }],
      ['closed-one-day-later', { set: ['closed', '2024-03-02T10:00:00Z'] }],
      ['closed-one-second-later', { set: ['closed', '2024-03-01T10:00:01Z'] }],
    ],
  }),
  service('due', 'dates that follow the clock', {
    document: { days: 14, zone: 0, hours: 1, format: 'iso' },
    answer: ({ days, zone, hours, format }, { some, isNoisy }) => {
      const now = (isNoisy ? some.time() : new Date()).getTime()
      const until = new Date(now + hours * 3_600_000)
      return {
        due: new Date(now + days * DAY).toISOString().slice(0, 10),
        now: new Date(now + zone * 3_600_000).toISOString(),
        until: format === 'iso' ? until.toISOString() : until.getTime(),
        left: `${days} days left`,
      }
    },
    changes: [
      ['one-day-more', { set: ['days', 15] }],
      ['a-year-more', { set: ['days', 379] }],
      ['hours-of-zone', { set: ['zone', 2] }],
      ['twice-as-long', { set: ['hours', 2] }],
      ['other-format', { set: ['format', 'epoch'] }, ''],
    ],
  }),
  service('rows', 'rows of a database', {
    document: {
      columns: ['id', 'name', 'amount', 'at', 'token'],
      rows: [
        [1, 'Ada', '10.50'],
        [2, 'Bob', '7.25'],
        [3, null, '0.00'],
      ],
      affected: 0,
    },
    answer: ({ columns, rows, affected }, { some, fill }) => ({
      columns,
      rows: rows.map((row) => [...row, some.time().toISOString(), fill('{{hex}}')]),
      affected,
      took: some.part(0.2, 4),
    }),
    changes: [
      ['cell', { set: ['rows[1][2]', '7.52'] }],
      ['null-cell', { set: ['rows[2][1]', ''] }],
      ['number-as-text', { set: ['rows[0][0]', '1'] }],
      ['column', { set: ['columns[2]', 'total'] }],
      ['columns-exchanged', { swap: ['columns', 1, 2] }],
      ['row-twice', { add: ['rows[2]', [2, 'Bob', '7.25']] }],
      ['affected', { set: ['affected', 1] }],
    ],
  }),
  service('connection-pages', 'GraphQL', {
    document: { names: ['x', 'y', 'z'], hasNextPage: false, errors: null, typename: 'User' },
    answer: ({ names, hasNextPage, errors, typename }, { id, some }) => ({
      data: {
        users: {
          edges: names.map((name, n) => ({
            cursor: id('c', n),
            node: { __typename: typename, name, seen: some.time().getTime() },
          })),
          pageInfo: { hasNextPage, endCursor: id('c', names.length - 1) },
        },
      },
      errors,
      extensions: { cost: { requested: 12, actual: some.int(3, 12) } },
    }),
    changes: [
      ['name', { set: ['names[2]', 'w'] }],
      ['page', { set: ['hasNextPage', true] }],
      ['error', { set: ['errors', [{ message: 'denied', path: ['users'] }]] }],
      ['typename', { set: ['typename', 'Robot'] }],
      ['edge-gone', { drop: 'names[0]' }],
    ],
  }),
  service('search', 'scores and ranks', {
    document: { hits: ['alpha', 'beta', 'gamma', 'delta'], max: 1, found: 4, source: 'index-1' },
    answer: ({ hits, max, found, source }, { some }) => ({
      found,
      source,
      results: hits
        .map((title) => ({
          title,
          score: Math.round(some.part(0, max) * 1000) / 1000,
          url: `https://s.example/${title}`,
        }))
        .toSorted((a, b) => b.score - a.score),
    }),
    changes: [
      ['hit', { set: ['hits[1]', 'omega'] }],
      ['hit-gone', { drop: 'hits[3]' }],
      ['found', { set: ['found', 5] }],
      ['source', { set: ['source', 'index-2'] }],
    ],
  }),
  service('cluster', 'orchestration', {
    document: {
      pods: [
        { app: 'web', phase: 'Running', restarts: 0, ready: true },
        { app: 'api', phase: 'Running', restarts: 2, ready: true },
        { app: 'job', phase: 'Succeeded', restarts: 0, ready: false },
      ],
      limits: { cpu: '500m', memory: '1Gi' },
    },
    answer: ({ pods, limits }, { some, fill }) => ({
      limits,
      items: some.order(
        pods.map((pod) => ({
          ...pod,
          name: `${pod.app}-${fill('{{hex}}').slice(0, 10)}-${fill('{{hex}}').slice(0, 5)}`,
          uid: fill('{{uuid}}'),
          ip: `10.1.${some.int(0, 255)}.${some.int(0, 255)}`,
          age: `${some.int(2, 9)}d`,
        })),
      ),
    }),
    changes: [
      ['phase', { set: ['pods[0].phase', 'Pending'] }],
      ['restarts', { set: ['pods[1].restarts', 3] }],
      ['ready', { set: ['pods[2].ready', true] }],
      ['app', { set: ['pods[2].app', 'cron'] }],
      ['pod-gone', { drop: 'pods[0]' }],
      ['limit', { set: ['limits.memory', '2Gi'] }],
    ],
  }),
  service('basket', 'amounts that belong together', {
    document: {
      lines: [
        ['tea', 2, 350],
        ['cup', 1, 1290],
      ],
      discount: 0,
      currency: 'CHF',
      tax: 8.1,
    },
    answer: ({ lines, discount, currency, tax }, { some, fill }) => {
      const sum = lines.reduce((total, [, count, price]) => total + count * price, 0) - discount
      return {
        id: `bsk_${fill('{{hex}}')}`,
        lines: lines.map(([sku, count, price]) => ({ sku, count, price, stock: some.int(5, 90) })),
        sum: { amount: sum, currency, formatted: `${currency} ${(sum / 100).toFixed(2)}` },
        tax,
        expires_at: new Date(some.time().getTime() + 900_000).toISOString(),
      }
    },
    changes: [
      ['discount', { set: ['discount', 50] }],
      ['price', { set: ['lines[0][2]', 340] }],
      ['count', { set: ['lines[1][1]', 2] }],
      ['currency', { set: ['currency', 'EUR'] }],
      ['tax', { set: ['tax', 8] }],
      ['sku', { set: ['lines[1][0]', 'mug'] }],
    ],
  }),
  service('chat', 'messages of people', {
    document: {
      messages: [
        { from: 'ada', text: 'こんにちは、世界。 会議は3時です。' },
        { from: 'bob', text: 'مرحبا {{hex}} بالعالم' },
        { from: 'cem', text: 'Ça va? 👍🏽 Job {{uuid}} läuft' },
      ],
      typing: ['ada'],
    },
    answer: ({ messages, typing }, { some, fill }) => ({
      typing,
      messages: messages.map(({ from, text }, n) => ({
        from,
        text: fill(text),
        ts: `${Math.floor(some.time() / 1000)}.${String(some.int(0, 999_999)).padStart(6, '0')}`,
        read: n < 2,
      })),
    }),
    changes: [
      ['hour', { replace: ['messages[0].text', '3時', '4時'] }],
      ['word', { replace: ['messages[0].text', '世界', '日本'] }],
      ['arabic', { replace: ['messages[1].text', 'بالعالم', 'بالجميع'] }],
      ['skin', { replace: ['messages[2].text', '👍🏽', '👍🏿'] }],
      ['accent', { replace: ['messages[2].text', 'läuft', 'lauft'] }],
      ['composed', { replace: ['messages[2].text', 'Ç', 'C\u0327'] }],
      ['from', { set: ['messages[1].from', 'bo'] }],
      ['typing', { drop: 'typing[0]' }],
    ],
  }),
  service('summary-text', 'sentences with numbers', {
    document: {
      text: 'Processed {{count}} of {{of}} files in {{ms}} ms ({{rate}} files/s), 2 warnings, 0 errors. Next run at {{time}}. Report {{uuid}}, mode fast.',
      of: 40,
    },
    path: 'result.content',
    whole: ({ text, of }, { some, fill }) =>
      say(
        fill(text)
          .replace('{{count}}', String(some.int(30, 40)))
          .replace('{{of}}', String(of))
          .replace('{{rate}}', some.part(10, 90).toFixed(1)),
      ),
    changes: [
      ['warnings', { replace: ['text', '2 warnings', '3 warnings'] }],
      ['errors', { replace: ['text', '0 errors', '1 error'] }],
      ['of', { set: ['of', 41] }],
      ['mode', { replace: ['text', 'fast', 'slow'] }],
      ['unit', { replace: ['text', 'files/s', 'files/min'] }],
      ['negated', { replace: ['text', 'Processed', 'Not processed'] }],
      ['sentence-gone', { replace: ['text', ' Next run at {{time}}.', ''] }],
      ['full-stop', { replace: ['text', 'fast.', 'fast'] }],
    ],
  }),
  service('wrapped-body', 'JSON in JSON in text', {
    document: {
      status: 200,
      body: { user: { id: 5, tags: ['a', 'b'] }, ok: true },
      header: 'application/json',
    },
    path: 'result.content',
    whole: ({ status, body, header }, { fill, beside }) =>
      say(
        JSON.stringify({
          status,
          headers: { 'content-type': header, date: fill('{{time}}'), 'x-request-id': fill('{{uuid}}') },
          body: JSON.stringify({ ...body, ...beside() }),
        }),
      ),
    changes: [
      ['status', { set: ['status', 201] }],
      ['tag', { set: ['body.user.tags[1]', 'c'] }],
      ['id', { set: ['body.user.id', 6] }],
      ['ok', { set: ['body.ok', 'true'] }],
      ['type', { set: ['header', 'text/json'] }],
      ['tags-exchanged', { swap: ['body.user.tags', 0, 1] }],
    ],
  }),
  service('dump', 'documents with comments', {
    document: {
      text: '# written {{time}} by {{hex}}\nversion: 3\nusers:\n  ada: {admin: true, quota: 10}\n  bob: {admin: false, quota: 20}\nnote: |\n  line one\n  line two\nempty: ~\n',
    },
    path: 'result.content',
    whole: ({ text }, { fill }) => say(fill(text)),
    changes: [
      ['admin', { replace: ['text', 'bob: {admin: false', 'bob: {admin: true'] }],
      ['quota', { replace: ['text', '20', '200'] }],
      ['user', { replace: ['text', 'ada', 'eve'] }],
      ['null', { replace: ['text', '~', '""'] }],
      ['lines-exchanged', { replace: ['text', 'line one\n  line two', 'line two\n  line one'] }],
      ['comment', { replace: ['text', 'written', 'copied'] }],
      ['last-newline', { replace: ['text', '~\n', '~'] }],
    ],
  }),
  service('steps-of-several-kinds', 'blocks of several kinds', {
    document: {
      blocks: [
        { type: 'text', text: 'Started {{uuid}}' },
        { type: 'text', text: 'Answer: 42' },
        { type: 'resource_link', uri: 'out://{{hex}}/result.csv', name: 'result.csv', mimeType: 'text/csv' },
        { type: 'resource', resource: { uri: 'out://log', text: 'took {{ms}} ms\nexit 0' } },
      ],
      _meta: { tier: 'gold' },
    },
    path: 'result',
    whole: ({ blocks, _meta }, { fill }) => ({ content: JSON.parse(fill(JSON.stringify(blocks))), _meta }),
    changes: [
      ['answer', { replace: ['blocks[1].text', '42', '43'] }],
      ['blocks-exchanged', { swap: ['blocks', 0, 1] }],
      ['link-file', { replace: ['blocks[2].uri', 'result.csv', 'result.tsv'] }],
      ['link-name', { set: ['blocks[2].name', 'output.csv'] }],
      ['exit', { replace: ['blocks[3].resource.text', 'exit 0', 'exit 1'] }],
      ['block-gone', { drop: 'blocks[3]' }],
      ['meta', { set: ['_meta.tier', 'silver'] }],
    ],
  }),
  service('failing', 'errors beside noise', {
    document: {
      fails: true,
      code: 'E_QUOTA',
      text: 'Quota of {{hex}} exceeded: 10 of 10 used, retry after {{time}}',
      isRpc: false,
    },
    path: '',
    whole: ({ fails, code, text, isRpc }, { fill }) =>
      isRpc
        ? { rpcError: { code: -32000, message: fill(text) } }
        : {
            content: [{ type: 'text', text: fill(text) }],
            structuredContent: { code, at: fill('{{time}}') },
            ...(fails && { isError: true }),
          },
    changes: [
      ['no-longer', { set: ['fails', false] }],
      ['code', { set: ['code', 'E_RATE'] }],
      ['used', { replace: ['text', '10 of 10', '9 of 10'] }],
      ['word', { replace: ['text', 'exceeded', 'reached'] }],
      ['rpc', { set: ['isRpc', true] }, ''],
    ],
  }),
  service('secrets-list', 'sets and maps', {
    document: {
      members: { admin: ['ada'], dev: ['ada', 'bob', 'cem'], ops: [] },
      flags: { beta: true, dark: false },
      order: ['low', 'mid', 'high'],
    },
    answer: ({ members, flags, order }, { some, fill }) => ({
      members: Object.fromEntries(
        some.order(Object.entries(members)).map(([name, list]) => [name, some.order(list)]),
      ),
      flags,
      order,
      keys: Object.fromEntries(
        ['k1', 'k2'].map((key) => [key, { value: fill('{{hex}}'), used: some.int(0, 9) }]),
      ),
    }),
    changes: [
      ['member-gone', { drop: 'members.dev[1]' }],
      ['member-new', { add: ['members.ops[0]', 'ada'] }],
      ['group-gone', { drop: 'members.ops' }],
      ['flag', { set: ['flags.dark', true] }],
      ['flag-gone', { drop: 'flags.beta' }],
      ['order', { swap: ['order', 0, 2] }],
    ],
  }),
  service('readings', 'series', {
    document: { unit: 'V', sensors: ['s1', 's2'], step: 60, length: 5, scale: 1, fixed: [1, 1, 2, 3, 5, 8] },
    answer: ({ unit, sensors, step, length, scale, fixed }, { some }) => ({
      unit,
      fixed,
      series: sensors.map((sensor) => ({
        sensor,
        step,
        values: Array.from({ length }, () => Math.round(some.part(3, 3.6) * scale * 100) / 100),
      })),
    }),
    changes: [
      ['fixed', { set: ['fixed[4]', 6] }],
      ['sensor', { set: ['sensors[1]', 's3'] }],
      ['step', { set: ['step', 61] }],
      ['length', { set: ['length', 4] }],
      ['scale', { set: ['scale', 1000] }],
      ['sign', { set: ['scale', -1] }],
      ['unit', { set: ['unit', 'mV'] }],
    ],
  }),
  service('tickets', 'ids with meaning', {
    document: { prefix: 'TCK', region: 'eu', state: 'open', version: 'v2', path: '/files' },
    answer: ({ prefix, region, state, version, path }, { fill }) => ({
      ticket: `${prefix}-${fill('{{hex}}')}`,
      arn: `arn:cloud:queue:${region}:${fill('{{hex}}')}:${state}`,
      link: `https://api.example/${version}/tickets/${fill('{{uuid}}')}${path}?state=${state}&t=${fill('{{ms}}')}`,
    }),
    changes: [
      ['prefix', { set: ['prefix', 'ISS'] }],
      ['region', { set: ['region', 'us'] }],
      ['state', { set: ['state', 'shut'] }],
      ['version', { set: ['version', 'v3'] }],
      ['path', { set: ['path', '/notes'] }],
    ],
  }),
  service('report-html', 'markup with noise in every line', {
    document: {
      html: '<table id="t-{{hex}}"><tr><th>job</th><th>state</th><th>ms</th></tr><tr data-id="{{uuid}}"><td>a</td><td class="ok">passed</td><td>{{ms}}</td></tr><tr data-id="{{uuid}}"><td>b</td><td class="bad">failed</td><td>{{ms}}</td></tr></table><footer>{{time}}</footer>',
    },
    path: 'result.content',
    whole: ({ html }, { fill }) => say(fill(html)),
    changes: [
      ['state', { replace: ['html', 'failed', 'passed'] }],
      ['class', { replace: ['html', '"bad"', '"ok"'] }],
      ['name', { replace: ['html', '<td>b</td>', '<td>c</td>'] }],
      ['heading', { replace: ['html', '<th>ms</th>', '<th>s</th>'] }],
      [
        'row-gone',
        {
          replace: [
            'html',
            '<tr data-id="{{uuid}}"><td>a</td><td class="ok">passed</td><td>{{ms}}</td></tr>',
            '',
          ],
        },
      ],
      ['attribute-gone', { replace: ['html', ' class="ok"', ''] }],
    ],
  }),
  service('prompt-like', 'questions beside noise', {
    document: {
      text: 'Classify ticket {{hex}}: "printer on fire"',
      maxTokens: 20,
      temperature: 0.1,
      message: 'Send {{ms}} credits to Ada?',
    },
    path: '',
    whole: async ({ text, maxTokens, temperature, message }, { question, fill }) => {
      await question('label', 'sampling/createMessage', {
        messages: [{ role: 'user', content: { type: 'text', text: fill(text) } }],
        maxTokens,
        temperature,
      })
      await question('sure', 'elicitation/create', {
        mode: 'form',
        message: fill(message),
        requestedSchema: { type: 'object', properties: { sure: { type: 'boolean' } } },
      })
      return say(`done {{uuid}}`.replace('{{uuid}}', () => fill('{{uuid}}')))
    },
    changes: [
      ['quoted', { replace: ['text', 'printer', 'scanner'] }],
      ['tokens', { set: ['maxTokens', 21] }],
      ['temperature', { set: ['temperature', 1] }],
      ['to', { replace: ['message', 'Ada', 'Eve'] }],
      ['verb', { replace: ['message', 'Send', 'Take'] }],
    ],
  }),
  service('loader', 'progress that varies in number', {
    document: {
      total: 100,
      label: 'Loading part',
      end: 'Done',
      level: 'info',
      logger: 'loader',
      log: 'cache of {{hex}} warmed',
      last: 100,
    },
    path: '',
    whole: async ({ total, label, end, level, logger, log, last }, { some, progress, notify, fill }) => {
      const count = some.int(4, 8)
      for (let n = 1; n <= count; n += 1)
        await progress({ progress: Math.round((n / (count + 1)) * total), total, message: `${label} ${n}` })
      await progress({ progress: last, total, message: end })
      await notify('notifications/message', { level, logger, data: fill(log) })
      return say('loaded')
    },
    changes: [
      ['total', { set: ['total', 200] }],
      ['label', { set: ['label', 'Storing part'] }],
      ['end', { set: ['end', 'Failed'] }],
      ['last', { set: ['last', 99] }],
      ['level', { set: ['level', 'error'] }],
      ['logger', { set: ['logger', 'store'] }],
      ['log', { replace: ['log', 'warmed', 'dropped'] }],
    ],
  }),
]
for (const scene of serviceScenes)
  if (scene.name === 'loader')
    Object.assign(scene, {
      step: 'anywhere',
      play: async ({ call, ask, era }) => {
        if (era === 'legacy') await ask('level', 'logging/setLevel', { level: 'debug' })
        await call('loader', {}, 'loader', { progressToken: 5, 'io.modelcontextprotocol/logLevel': 'debug' })
        await call('loader', {}, 'again', { progressToken: 6, 'io.modelcontextprotocol/logLevel': 'debug' })
      },
    })
