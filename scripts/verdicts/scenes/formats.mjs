// Formats of other trades in texts, and answers of several calls that depend on each other.
import { text } from './texts.mjs'

export const formatScenes = [
  text('feed', 'feeds and calendars', {
    template:
      '<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><lastBuildDate>{{time}}</lastBuildDate><item><guid isPermaLink="false">{{uuid}}</guid><title>Rain</title><link>https://news.example/1</link></item><item><guid isPermaLink="false">{{uuid}}</guid><title>Snow</title><link>https://news.example/2</link></item></channel></rss>',
    changes: [
      ['title', 'Snow', 'Hail'],
      ['link', 'example/2', 'example/3', ''],
      [
        'permanent',
        'isPermaLink="false">{{uuid}}</guid><title>Rain',
        'isPermaLink="true">{{uuid}}</guid><title>Rain',
      ],
      ['version', 'rss version="2.0"', 'rss version="0.91"', '0.91'],
      ['guid-gone', '<guid isPermaLink="false">{{uuid}}</guid><title>Snow', '<title>Snow', ''],
    ],
  }),
  text('calendar', 'feeds and calendars', {
    template:
      'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:{{uuid}}\r\nDTSTAMP:{{time}}\r\nDTSTART:20240305T090000Z\r\nRRULE:FREQ=WEEKLY;BYDAY=MO,WE\r\nATTENDEE;PARTSTAT=ACCEPTED:mailto:ada@example.com\r\nSUMMARY:Stand-up\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
    changes: [
      ['start', '20240305T090000Z', '20240305T100000Z', '20240305T100000Z'],
      ['rule', 'BYDAY=MO,WE', 'BYDAY=MO,FR'],
      ['status', 'ACCEPTED', 'DECLINED'],
      ['summary', 'Stand-up', 'Stand-down'],
      ['attendee-gone', 'ATTENDEE;PARTSTAT=ACCEPTED:mailto:ada@example.com\r\n', '', 'ATTENDEE'],
      ['line-endings', 'SUMMARY:Stand-up\r\n', 'SUMMARY:Stand-up\n', ''],
    ],
  }),
  text('schema-language', 'schemas and diagrams as text', {
    template:
      '# generated {{time}} as {{hex}}\ntype Order {\n  id: ID!\n  lines: [Line!]!\n  note: String\n  state: State = OPEN\n}\n\nenum State { OPEN PAID SENT }\n',
    changes: [
      ['nullable', 'id: ID!', 'id: ID', ''],
      ['list', '[Line!]!', '[Line]!', ''],
      ['type', 'note: String', 'note: Int'],
      ['default', '= OPEN', '= PAID', ''],
      ['value-gone', ' PAID SENT', ' SENT', ''],
      ['deprecated', 'note: String', 'note: String @deprecated'],
    ],
  }),
  text('diagram', 'schemas and diagrams as text', {
    template:
      'graph TD\n  A[Order {{hex}}] --> B{paid?}\n  B -- yes --> C[Ship]\n  B -- no --> D[Wait]\n%% {{time}}\n',
    changes: [
      ['arrow', 'A[Order {{hex}}] -->', 'A[Order {{hex}}] -.->', ''],
      ['direction', 'TD', 'LR'],
      ['label', '-- yes -->', '-- maybe -->'],
      ['target', '--> D[Wait]', '--> C[Wait]', ''],
      ['shape', '[Ship]', '(Ship)', ''],
    ],
  }),
  text('metrics', 'metrics', {
    template:
      '# HELP http_requests_total Requests\n# TYPE http_requests_total counter\nhttp_requests_total{code="200",path="/a"} 17\nhttp_requests_total{code="500",path="/a"} 2\n# TYPE process_start gauge\nprocess_start{instance="{{hex}}"} 1.5\nscrape_id{id="{{uuid}}"} 1\n',
    changes: [
      ['value', '"500",path="/a"} 2', '"500",path="/a"} 3', '3'],
      ['label', 'code="500"', 'code="503"'],
      ['type', 'http_requests_total counter', 'http_requests_total gauge', ''],
      ['label-gone', '{code="200",path="/a"}', '{code="200"}', ''],
      ['series-gone', 'http_requests_total{code="500",path="/a"} 2\n', '', '500'],
      ['value-of-noise', '} 1.5', '} 2.5'],
    ],
  }),
  text('junit', 'test reports', {
    template:
      '<testsuite name="api" tests="3" failures="1" time="0.25" id="{{uuid}}"><testcase name="adds" time="0.01"/><testcase name="deletes" time="0.02"><failure message="expected 1, got 2">at {{hex}}</failure></testcase><testcase name="lists"><skipped/></testcase></testsuite>',
    changes: [
      ['failures', 'failures="1"', 'failures="2"', '2'],
      ['message', 'got 2', 'got 3'],
      ['skipped-gone', '<skipped/>', '', ''],
      ['name', '"lists"', '"sorts"'],
      ['case-gone', '<testcase name="adds" time="0.01"/>', '', 'adds'],
    ],
  }),
  text('coloured', 'control characters', {
    template: '\u001b[32mPASS\u001b[0m {{hex}} in {{ms}} ms\n\u001b[31mFAIL\u001b[0m b.test.js\ttab\n',
    changes: [
      ['colour', '\u001b[31mFAIL', '\u001b[33mFAIL', ''],
      ['colour-gone', '\u001b[32mPASS\u001b[0m', 'PASS', ''],
      ['word', 'FAIL', 'SKIP'],
      ['tab-to-space', '\ttab', ' tab', ''],
    ],
  }),
  text('invisible', 'control characters', {
    template: 'Name: Ada Lovelace\nCode: AB\u200b12\nSum: 1\u00a0000 EUR\nRequest {{uuid}}\n',
    changes: [
      ['zero-width-gone', 'AB\u200b12', 'AB12', ''],
      ['zero-width-new', 'Lovelace', 'Love\u200blace', ''],
      ['breaking-space', '1\u00a0000', '1 000', ''],
      ['look-alike', 'Ada', '\u0410da', ''],
      ['byte-order-mark', 'Name', '\ufeffName', ''],
    ],
  }),
  text('geometry', 'places', {
    template:
      '{"type":"FeatureCollection","generated":"{{time}}","features":[{"type":"Feature","id":"{{hex}}","geometry":{"type":"LineString","coordinates":[[8.54,47.37],[8.55,47.38],[8.56,47.39]]},"properties":{"name":"walk","wkt":"POINT(8.54 47.37)"}}]}',
    changes: [
      ['coordinate', '47.38', '47.381', '47.381'],
      ['point-gone', ',[8.56,47.39]', '', ''],
      ['axes', '[8.54,47.37],', '[47.37,8.54],', ''],
      ['well-known-text', 'POINT(8.54 47.37)', 'POINT(8.54 47.36)', '47.36'],
      ['type', 'LineString', 'Polygon'],
    ],
  }),
  text('hexdump', 'dumps', {
    template:
      '# {{time}}\n00000000  89 50 4e 47 0d 0a 1a 0a  00 00 00 0d 49 48 44 52  |.PNG........IHDR|\n00000010  00 00 00 01 00 00 00 01  08 06 00 00 00 1f 15 c4  |................|\n',
    changes: [
      ['byte', '08 06 00', '08 02 00', ''],
      ['text', '.PNG', '.JPG', ''],
      [
        'line-gone',
        '00000010  00 00 00 01 00 00 00 01  08 06 00 00 00 1f 15 c4  |................|\n',
        '',
        '',
      ],
    ],
  }),
  text('decimals', 'tables with other separators', {
    template: 'Artikel;Preis;Lager\nApfel;1,50;12\nBirne;2,75;0\nKiwi;0,90;7\n# {{uuid}}\n',
    changes: [
      ['price', '2,75', '2,57'],
      ['stock', 'Birne;2,75;0', 'Birne;2,75;1', ''],
      ['name', 'Kiwi', 'Mango'],
    ],
  }),
  text('front-matter', 'documents of several formats', {
    template:
      '---\ntitle: Plan\ndraft: false\nid: {{uuid}}\n---\n\n# Plan\n\n1. Buy `milk`\n2. Call [Bob](tel:+41441234567)\n   - at 9\n\n| day | who |\n|---|---|\n| Mo | Ada |\n\n```js\nrun({ retries: 3 })\n```\n',
    changes: [
      ['draft', 'draft: false', 'draft: true', ''],
      ['phone', '4567', '4568', ''],
      ['cell', '| Mo | Ada |', '| Mo | Eve |', 'Eve'],
      ['code', 'retries: 3', 'retries: 5', '5'],
      ['nested', '   - at 9', '   - at 8', ''],
      ['fence', '```js', '```ts', 'ts'],
    ],
  }),
  text('cron', 'schedules and versions', {
    template:
      '# {{time}} {{hex}}\n*/5 * * * * /opt/bin/poll --all\n0 3 * * 1 /opt/bin/backup --keep 7\n"left-pad": "^1.2.3", node >=18 <23\n',
    changes: [
      ['minute', '*/5', '*/15', ''],
      ['weekday', '0 3 * * 1', '0 3 * * 2', ''],
      ['option', '--keep 7', '--keep 9', ''],
      ['range', '^1.2.3', '~1.2.3', ''],
      ['bound', '<23', '<=23', ''],
    ],
  }),
  {
    name: 'ledger',
    shape: 'values that move between items',
    document: {
      accounts: [
        { id: 'a-1', owner: { name: 'Ada', roles: ['admin', 'dev'] }, balance: '10.00', limits: { day: 5 } },
        { id: 'b-2', owner: { name: 'Bob', roles: ['dev'] }, balance: '20.00', limits: { day: 6 } },
        { id: 'c-3', owner: { name: 'Cem', roles: [] }, balance: '-3.00', limits: { day: null } },
      ],
      byId: { 'a-1': { state: 'open' }, 'b-2': { state: 'closed' } },
      total: '27.00',
    },
    root: 'result.structuredContent',
    play: async ({ call }) => call('ledger'),
    tools: {
      ledger: ({ accounts, byId, total }, { beside }) => ({
        content: [{ type: 'text', text: 'ok' }],
        structuredContent: {
          accounts: accounts.map((one) => ({ ...one, ...beside() })),
          byId: Object.fromEntries(Object.entries(byId).map(([id, one]) => [id, { ...one, ...beside() }])),
          total,
          ...beside(),
        },
      }),
    },
    changes: [
      { id: 'state', set: ['byId.b-2.state', 'open'] },
      { id: 'role-gone', drop: 'accounts[0].owner.roles[1]', token: 'dev' },
      { id: 'role-new', add: ['accounts[2].owner.roles[0]', 'dev'], token: '' },
      { id: 'sign', set: ['accounts[2].balance', '3.00'], token: '3.00' },
      { id: 'zeros', set: ['accounts[0].balance', '10.0'], token: '10.0' },
      { id: 'null-to-number', set: ['accounts[2].limits.day', 7] },
      { id: 'owner-null', set: ['accounts[1].owner', null], token: '' },
      { id: 'wrong-owner', set: ['accounts[1].owner.name', 'Ada'] },
      { id: 'account-gone', drop: 'accounts[1]', token: '' },
      {
        id: 'account-twice',
        add: [
          'accounts[3]',
          { id: 'c-3', owner: { name: 'Cem', roles: [] }, balance: '-3.00', limits: { day: null } },
        ],
        token: '',
      },
      { id: 'accounts-exchanged', swap: ['accounts', 0, 2] },
      { id: 'key-gone', drop: 'byId.a-1', token: '' },
      { id: 'key-renamed', rename: ['byId.a-1', 'z-9'], token: '' },
      { id: 'total', set: ['total', '28.00'] },
    ],
  },
  {
    name: 'stale',
    shape: 'one value in several places',
    document: { useOther: 'none', note: 'fine' },
    path: '',
    play: async ({ call }) => {
      const { structuredContent } = await call('open-order')
      const { order } = structuredContent ?? {}
      await call('pay-order', { order })
      await call('order-events', { order })
    },
    tools: {
      'open-order': (_, { session, beside }) => {
        session.order = `ord_${crypto.randomUUID().slice(0, 13)}`
        session.digest = crypto.randomUUID().replaceAll('-', '')
        return {
          content: [{ type: 'text', text: `Opened ${session.order}` }],
          structuredContent: { order: session.order, digest: session.digest, ...beside() },
        }
      },
      'pay-order': ({ useOther, note }, { session, beside }) => ({
        content: [
          {
            type: 'text',
            text: `Paid ${useOther === 'text' ? `ord_${crypto.randomUUID().slice(0, 13)}` : session.order}: ${note}`,
          },
        ],
        structuredContent: {
          receipt: {
            for: useOther === 'nested' ? `ord_${crypto.randomUUID().slice(0, 13)}` : session.order,
            digest: useOther === 'digest' ? crypto.randomUUID().replaceAll('-', '') : session.digest,
          },
          ...beside(),
        },
      }),
      'order-events': ({ useOther }, { session, beside }) => ({
        content: [
          {
            type: 'resource_link',
            name: 'events',
            uri: `orders://${useOther === 'link' ? `ord_${crypto.randomUUID().slice(0, 13)}` : session.order}/events`,
          },
        ],
        structuredContent: {
          events: [
            {
              of: useOther === 'list' ? `ord_${crypto.randomUUID().slice(0, 13)}` : session.order,
              kind: 'opened',
            },
            { of: useOther === 'fixed' ? 'ord_00000000-0000' : session.order, kind: 'paid' },
          ],
          ...beside(),
        },
      }),
    },
    changes: [
      { id: 'in-text', set: ['useOther', 'text'], step: 'pay-order', token: '' },
      { id: 'nested', set: ['useOther', 'nested'], step: 'pay-order', token: '' },
      { id: 'digest', set: ['useOther', 'digest'], step: 'pay-order', token: '' },
      { id: 'in-link', set: ['useOther', 'link'], step: 'order-events', token: '' },
      { id: 'in-list', set: ['useOther', 'list'], step: 'order-events', token: '' },
      { id: 'fixed', set: ['useOther', 'fixed'], step: 'order-events', token: '' },
      { id: 'beside', set: ['note', 'failed'], step: 'pay-order' },
    ],
  },
  {
    name: 'cursor-pages',
    shape: 'pages of a tool',
    document: { pages: [['a', 'b', 'c'], ['d', 'e', 'f'], ['g']], total: 7 },
    path: '',
    play: async ({ call }) => {
      let cursor
      for (let n = 1; n <= 4; n += 1) {
        const { structuredContent } = await call(
          'list-rows',
          cursor === undefined ? {} : { cursor },
          `rows-${n}`,
        )
        cursor = structuredContent?.nextCursor
        if (cursor === undefined) break
      }
    },
    tools: {
      'list-rows': ({ pages, total }, { session, args, beside, id }) => {
        const at = args.cursor === undefined ? 0 : (session.cursors?.get(args.cursor) ?? 0)
        session.cursors ??= new Map()
        const isLast = at + 1 >= pages.length
        const nextCursor = isLast ? undefined : id('cur', at + 1)
        if (nextCursor !== undefined) session.cursors.set(nextCursor, at + 1)
        return {
          content: [{ type: 'text', text: (pages[at] ?? []).join('\n') }],
          structuredContent: { rows: pages[at] ?? [], total, ...(nextCursor && { nextCursor }), ...beside() },
        }
      },
    },
    changes: [
      { id: 'row', set: ['pages[1][1]', 'x'], step: 'rows-2', token: 'x' },
      { id: 'row-gone', drop: 'pages[1][2]', step: 'rows-2', token: '' },
      { id: 'rows-exchanged', swap: ['pages[0]', 0, 2], step: 'rows-1' },
      { id: 'pages-exchanged', swap: ['pages', 0, 1], step: 'rows-1', token: '' },
      { id: 'last-page-gone', drop: 'pages[2]', step: 'rows-2', token: '' },
      { id: 'overlap', set: ['pages[1][0]', 'c'], step: 'rows-2', token: 'c' },
      { id: 'total', set: ['total', 8], step: 'rows-1', token: '8' },
    ],
  },
  {
    name: 'job',
    shape: 'progress and logs beside noise',
    document: {
      steps: [
        { progress: 0.5, total: 2, message: 'Fetched 3 files at {{time}}' },
        { progress: 1.25, total: 2, message: 'Hashed {{hex}}' },
        { progress: 2, total: 2, message: 'Stored' },
      ],
      logs: [
        {
          level: 'notice',
          logger: 'job.queue',
          data: { event: 'queued', meta: { id: '{{uuid}}', attempts: [1, 2] } },
        },
        { level: 'debug', data: ['plain', 1, null] },
        { level: 'error', logger: 'job.queue', data: 'retry 2 of 5 after {{ms}} ms: ECONNRESET' },
      ],
      text: 'Job {{uuid}} done',
    },
    path: '',
    step: 'anywhere',
    play: async ({ call, ask, era }) => {
      if (era === 'legacy') await ask('level', 'logging/setLevel', { level: 'debug' })
      await call('job', {}, 'job', { progressToken: 77, 'io.modelcontextprotocol/logLevel': 'debug' })
      await call('after')
    },
    tools: {
      job: async ({ steps, logs, text: done }, { progress, notify, fill }) => {
        const filled = (value) => JSON.parse(fill(JSON.stringify(value)))
        for (const [n, log] of logs.entries()) {
          if (steps[n] !== undefined) await progress(filled(steps[n]))
          await notify('notifications/message', filled(log))
        }
        return { content: [{ type: 'text', text: fill(done) }] }
      },
      after: () => ({ content: [{ type: 'text', text: 'idle' }] }),
    },
    changes: [
      { id: 'progress-word', replace: ['steps[0].message', 'files', 'folders'] },
      { id: 'progress-number', replace: ['steps[0].message', '3', '4'], token: '4' },
      { id: 'progress-total', set: ['steps[2].total', 3], token: '' },
      { id: 'progress-falls-back', set: ['steps[1].progress', 0.25], token: '' },
      { id: 'progress-last-gone', drop: 'steps[2]', token: '' },
      { id: 'log-attempt', set: ['logs[0].data.meta.attempts[1]', 3], token: '3' },
      { id: 'log-member', rename: ['logs[0].data.event', 'kind'], token: '' },
      { id: 'log-level', set: ['logs[0].level', 'info'] },
      { id: 'log-logger-gone', drop: 'logs[2].logger', token: '' },
      { id: 'log-logger-new', set: ['logs[1].logger', 'job'], token: 'job' },
      { id: 'log-item', set: ['logs[1].data[2]', 0], token: '' },
      { id: 'log-number', replace: ['logs[2].data', '2 of 5', '2 of 6'], token: '6' },
      { id: 'log-code', replace: ['logs[2].data', 'ECONNRESET', 'ETIMEDOUT'] },
      { id: 'log-gone', drop: 'logs[1]', token: '' },
      { id: 'log-new', add: ['logs[3]', { level: 'critical', data: 'disk full' }], token: '' },
      { id: 'result', replace: ['text', 'done', 'failed'], step: 'job' },
    ],
  },
  {
    name: 'rounds-with-data',
    shape: 'questions with data',
    document: {
      ask: {
        messages: [
          { role: 'user', content: { type: 'text', text: 'Rate ticket {{uuid}} from 1 to 5' } },
          { role: 'assistant', content: { type: 'text', text: '4' } },
        ],
        modelPreferences: { hints: [{ name: 'small' }, { name: 'fast' }], costPriority: 0.2 },
        stopSequences: ['END', 'STOP'],
        maxTokens: 9,
      },
      form: {
        mode: 'form',
        message: 'Close ticket {{hex}} of Ada?',
        requestedSchema: {
          type: 'object',
          properties: {
            reason: {
              type: 'string',
              oneOf: [
                { const: 'done', title: 'Done' },
                { const: 'dup', title: 'Duplicate' },
              ],
            },
            days: { type: 'integer', minimum: 1, maximum: 30, default: 7 },
            sure: { type: 'boolean' },
          },
        },
      },
      text: 'Closed with score {{ms}}',
    },
    path: '',
    play: async ({ call }) => call('close-ticket'),
    tools: {
      'close-ticket': async ({ ask: asked, form, text: done }, { question, fill }) => {
        const filled = (value) => JSON.parse(fill(JSON.stringify(value)))
        const rating = await question('rate', 'sampling/createMessage', filled(asked))
        const answer = await question('sure', 'elicitation/create', filled(form))
        return { content: [{ type: 'text', text: `${fill(done)} ${rating?.model} ${answer?.action}` }] }
      },
    },
    step: 'close-ticket',
    changes: [
      { id: 'priority', set: ['ask.modelPreferences.costPriority', 0.9], token: '0.9' },
      { id: 'hint-gone', drop: 'ask.modelPreferences.hints[1]', token: '' },
      { id: 'stops-exchanged', swap: ['ask.stopSequences', 0, 1], token: '' },
      { id: 'message-gone', drop: 'ask.messages[1]', token: '' },
      { id: 'message-text', replace: ['ask.messages[0].content.text', '1 to 5', '1 to 9'], token: '9' },
      {
        id: 'message-type',
        set: ['ask.messages[1].content', { type: 'image', data: 'aGk=', mimeType: 'image/png' }],
        token: '',
      },
      { id: 'form-owner', replace: ['form.message', 'Ada', 'Bob'] },
      { id: 'form-title', set: ['form.requestedSchema.properties.reason.oneOf[1].title', 'Twice'] },
      { id: 'form-maximum', set: ['form.requestedSchema.properties.days.maximum', 31], token: '31' },
      { id: 'form-default', set: ['form.requestedSchema.properties.days.default', 8], token: '8' },
      { id: 'form-field-gone', drop: 'form.requestedSchema.properties.sure', token: '' },
      { id: 'result', replace: ['text', 'Closed', 'Kept'] },
    ],
  },
  {
    name: 'library',
    shape: 'resources beside noise',
    document: {
      resources: [
        { uri: 'lib://a', name: 'a', size: 120, annotations: { audience: ['user'], priority: 0.5 } },
        { uri: 'lib://b', name: 'b', mimeType: 'application/pdf', description: 'Second' },
      ],
      a: { mimeType: 'text/x-log', text: 'started {{time}}\nlevel=3\nworker {{hex}} ready\n' },
      b: {
        mimeType: 'application/pdf',
        blob: 'JVBERi0xLjQKJcOkw7zDtsOfCjIgMCBvYmoKPDwvTGVuZ3RoIDMgMCBSL0ZpbHRlcg==',
      },
    },
    path: '',
    play: async ({ ask }) => {
      await ask('list', 'resources/list', {})
      await ask('read-a', 'resources/read', { uri: 'lib://a' })
      await ask('read-b', 'resources/read', { uri: 'lib://b' })
    },
    methods: {
      'resources/list': ({ resources }, { cached }) => ({ resources, ...cached() }),
      'resources/read': ({ a, b }, { params, fill, cached }) => ({
        contents: [
          params.uri === 'lib://a' ? { uri: 'lib://a', ...a, text: fill(a.text) } : { uri: 'lib://b', ...b },
        ],
        ...cached(),
      }),
    },
    changes: [
      { id: 'size', set: ['resources[0].size', 121], step: 'list', token: '121' },
      { id: 'priority', set: ['resources[0].annotations.priority', 0.4], step: 'list', token: '0.4' },
      { id: 'description-gone', drop: 'resources[1].description', step: 'list', token: '' },
      { id: 'uri', set: ['resources[1].uri', 'lib://c'], step: 'list', token: '' },
      { id: 'level', replace: ['a.text', 'level=3', 'level=4'], step: 'read-a', token: '4' },
      { id: 'ready', replace: ['a.text', 'ready', 'lost'], step: 'read-a' },
      { id: 'log-type', set: ['a.mimeType', 'text/plain'], step: 'read-a', token: '' },
      { id: 'blob-byte', replace: ['b.blob', 'JVBERi0xLjQK', 'JVBERi0xLjUK'], step: 'read-b', token: '' },
      { id: 'blob-empty', set: ['b.blob', ''], step: 'read-b', token: '' },
    ],
  },
]
