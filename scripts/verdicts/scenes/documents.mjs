// Texts in the formats of other tools, values inside encoded values, and the rarer members of results, errors and questions.
import { Buffer } from 'node:buffer'
import { text } from './texts.mjs'

export const documentScenes = [
  text('compose', 'YAML, TOML and properties', {
    template:
      'services:\n  web:\n    image: "shop:1.4"\n    command: ["serve", "--port", "80"]\n    labels: &labels\n      build: {{hex}}\n      deployed: {{time}}\n    healthcheck: {interval: 30s, retries: 3}\n  worker:\n    image: "shop:1.4"\n    labels: *labels\n    enabled: yes\n    notes: |\n      first line\n      second line\n',
    changes: [
      ['flow-item', '"80"', '"81"'],
      ['flow-value', 'retries: 3', 'retries: 5'],
      ['alias', '*labels', '*others'],
      ['scalar-kind', 'enabled: yes', 'enabled: "yes"', ''],
      ['block-kind', 'notes: |', 'notes: >', ''],
      ['block-line', 'second line', 'third line'],
      ['second-of-equal', 'worker:\n    image: "shop:1.4"', 'worker:\n    image: "shop:1.5"', '5'],
      ['key-order', '    labels: *labels\n    enabled: yes\n', '    enabled: yes\n    labels: *labels\n', ''],
    ],
  }),
  text('toml', 'YAML, TOML and properties', {
    template:
      '# generated {{time}}\n[package]\nname = "shop"\nversion = "1.4.0"\nrevision = "{{hex}}"\n\n[[bin]]\nname = "serve"\npath = "src/serve.rs"\n\n[[bin]]\nname = "work"\npath = "src/work.rs"\n\n[profile.release]\nlto = true\nopt-level = 3\n',
    changes: [
      ['version', '1.4.0', '1.4.1', '1'],
      ['boolean', 'lto = true', 'lto = false'],
      ['table-name', '[profile.release]', '[profile.debug]'],
      ['table-kind', '[[bin]]\nname = "work"', '[bin]\nname = "work"', ''],
      [
        'tables-exchanged',
        'name = "serve"\npath = "src/serve.rs"\n\n[[bin]]\nname = "work"\npath = "src/work.rs"',
        'name = "work"\npath = "src/work.rs"\n\n[[bin]]\nname = "serve"\npath = "src/serve.rs"',
        '',
      ],
      ['number', 'opt-level = 3', 'opt-level = "z"', 'z'],
    ],
  }),
  text('checklist', 'Markdown lists and links', {
    template:
      '## Release {{uuid}}\n\n- [x] build\n  - [x] linux\n  - [ ] windows\n- [ ] sign ({{ms}} ms)\n1. **Tag** the [commit](https://git.example/shop/commit/{{hex}}?tab=files)\n2. _Publish_ `shop@1.4`\n\n> Ask *ada* first.\n',
    changes: [
      ['box', '- [ ] sign', '- [x] sign', ''],
      ['nested-box', '[ ] windows', '[x] windows', ''],
      ['level', '## Release', '### Release', ''],
      ['nesting', '  - [ ] windows', '- [ ] windows', ''],
      ['emphasis', '**Tag**', 'Tag', ''],
      ['link-path', '/shop/commit/', '/cart/commit/', 'cart'],
      ['link-query', 'tab=files', 'tab=log', 'log'],
      ['code', '`shop@1.4`', '`shop@1.5`', ''],
      ['quote', '> Ask', 'Ask', ''],
    ],
  }),
  text('box-table', 'tables of terminals', {
    template:
      '┌──────────┬───────┬──────────────┐\n│ job      │ state │ trace        │\n├──────────┼───────┼──────────────┤\n│ build    │ ok    │ {{hex}} │\n│ test     │ ok    │ {{hex}} │\n│ deploy   │ late  │ {{hex}} │\n└──────────┴───────┴──────────────┘\n3 jobs at {{time}}\n',
    changes: [
      ['cell', 'late ', 'fail '],
      ['one-of-equal', '│ test     │ ok    │', '│ test     │ fail  │', 'fail'],
      ['row-gone', '│ test     │ ok    │ {{hex}} │\n', '', 'test'],
      ['heading', ' state ', ' phase '],
      ['count', '3 jobs', '4 jobs', '4'],
      [
        'rows-exchanged',
        '│ build    │ ok    │ {{hex}} │\n│ test     │ ok    │ {{hex}} │',
        '│ test     │ ok    │ {{hex}} │\n│ build    │ ok    │ {{hex}} │',
        '',
      ],
    ],
  }),
  text('psql', 'tables of terminals', {
    template:
      ' id |  name  | amount |          request_id\n----+--------+--------+--------------------------------------\n  1 | ada    |  10.50 | {{uuid}}\n  2 | bob    |   9.00 | {{uuid}}\n  3 | eve    |        | {{uuid}}\n(3 rows)\n\nTime: {{ms}}.120 ms\n',
    changes: [
      ['cell', ' 9.00', ' 9.50'],
      ['null-cell', '|        |', '|   0.00 |', '00'],
      ['name', 'bob', 'bea'],
      ['columns-exchanged', ' id |  name  |', ' name |  id  |', ''],
      ['count', '(3 rows)', '(2 rows)', '2'],
    ],
  }),
  text('sql', 'SQL', {
    template:
      "-- {{uuid}}\nSELECT o.id, SUM(l.price * l.count) AS total\nFROM orders o LEFT JOIN lines l ON l.order_id = o.id\nWHERE o.created < '{{time}}' AND o.state IN ('open', 'late')\nGROUP BY o.id HAVING total >= 10 ORDER BY total DESC LIMIT 20;",
    changes: [
      ['operator', 'total >= 10', 'total > 10', ''],
      ['join', 'LEFT JOIN', 'INNER JOIN', 'INNER'],
      ['function', 'SUM(', 'MAX('],
      ['arithmetic', 'l.price * l.count', 'l.price + l.count', ''],
      ['comparison-beside-noise', 'o.created <', 'o.created >', ''],
      ['literal', "'late'", "'lost'"],
      ['direction', 'DESC', 'ASC'],
      ['limit', 'LIMIT 20', 'LIMIT 200'],
    ],
  }),
  text('units', 'quantities in words', {
    template:
      'Copied three files (1.2 MB of 4 GB, 87 %) in 3m 12s; first at {{time}}, attempt no. 2 took {{ms}} ms, id {{hex}}. Balance: -12.50 EUR, ratio 3:4, room 21 °C, version v2.',
    changes: [
      ['number-in-words', 'three files', 'four files'],
      ['unit', '1.2 MB', '1.2 KB'],
      ['limit', '4 GB', '8 GB'],
      ['percent', '87 %', '78 %'],
      ['duration', '3m 12s', '3m 21s', '21'],
      ['attempt', 'no. 2', 'no. 3', '3'],
      ['sign', '-12.50', '12.50', ''],
      ['currency', 'EUR', 'USD'],
      ['ratio', '3:4', '4:3', ''],
      ['separator', '12.50', '12,50', ''],
      ['unit-of-noise', '{{ms}} ms', '{{ms}} µs', 'µs'],
      ['prefix', 'version v2', 'version 2', ''],
    ],
  }),
  text('mail', 'messages and headers', {
    template:
      'From: ada@example.com\nTo: bob@example.com, eve@example.com\nMessage-ID: <{{hex}}@mail.example>\nDate: {{time}}\nX-Spam-Score: 0.1\nSubject: =?utf-8?q?Caf=C3=A9?=\n\nHello Bob,\n\nyour order is on its way.\n--\nAda\n',
    changes: [
      ['recipient-gone', ', eve@example.com', '', 'eve'],
      ['score', '0.1', '9.1', ''],
      ['domain-of-noise', '@mail.example', '@evil.example', 'evil'],
      ['header-gone', 'X-Spam-Score: 0.1\n', '', 'Spam'],
      ['header-case', 'Subject:', 'subject:', 'subject'],
      ['body', 'on its way', 'delayed', 'delayed'],
      ['blank-line-gone', '\n\nHello', '\nHello', ''],
    ],
  }),
  text('python', 'source code and printed values', {
    template:
      "{'id': UUID('{{uuid}}'), 'price': Decimal('10.50'), 'tags': ('a', 'b'), 'open': True, 'parent': None, 'at': '{{time}}'}",
    changes: [
      ['decimal', '10.50', '10.05', ''],
      ['tuple-to-list', "('a', 'b')", "['a', 'b']", ''],
      ['boolean', 'True', 'False'],
      ['none', 'None', "'None'", ''],
      ['wrapper', 'UUID(', 'ID(', 'ID'],
      ['order', "('a', 'b')", "('b', 'a')", ''],
    ],
  }),
  text('code', 'source code and printed values', {
    template:
      '// build {{hex}}, {{time}}\nexport function total(lines) {\n\tlet sum = 0\n\tfor (const { price, count } of lines) {\n\t\tif (count <= 0) continue\n\t\tsum += price * count\n\t}\n\treturn sum\n}\n',
    changes: [
      ['operator', 'count <= 0', 'count < 0', ''],
      ['assignment', 'sum += ', 'sum -= ', ''],
      ['indentation', '\treturn', '  return', ''],
      ['keyword', 'continue', 'break'],
      ['comment-mark', '// build', '# build', ''],
      [
        'lines-exchanged',
        '\t\tif (count <= 0) continue\n\t\tsum += price * count\n',
        '\t\tsum += price * count\n\t\tif (count <= 0) continue\n',
        '',
      ],
      ['last-newline', '}\n', '}', ''],
    ],
  }),
  text('tree', 'source code and printed values', {
    template:
      '/tmp/work-{{hex}}\n├── src\n│   ├── main.ts\n│   └── text.ts\n├── test\n└── package.json\n\n2 directories, 3 files\n',
    changes: [
      ['file', 'text.ts', 'json.ts'],
      ['file-gone', '│   ├── main.ts\n', '', 'main'],
      ['moved', '│   └── text.ts\n├── test\n', '├── test\n│   └── text.ts\n', ''],
      ['count', '3 files', '4 files', '4'],
      ['root', '/tmp/work-', '/var/work-', 'var'],
    ],
  }),
  text('page', 'markup with data', {
    template:
      '<?xml version="1.0"?>\n<!-- made {{time}} -->\n<s:order xmlns:s="urn:shop" s:id="{{hex}}" open="open">\n  <s:note><![CDATA[5 < 6 & 7]]></s:note>\n  <s:line count="2">Tea &amp; milk</s:line>\n  <s:line count="3"/>\n</s:order>',
    changes: [
      ['cdata', '5 < 6', '5 < 9', '9'],
      ['entity', 'Tea &amp; milk', 'Tea &amp; rum', 'rum'],
      ['attribute-gone', ' open="open"', '', 'open'],
      ['namespace', 'urn:shop', 'urn:cart'],
      ['second-count', 'count="3"', 'count="4"', '4'],
      ['comment', 'made', 'seen'],
      ['element-gone', '  <s:line count="3"/>\n', '', ''],
    ],
  }),
  {
    name: 'encoded',
    shape: 'encoded values',
    document: {
      cursor: { offset: 40, order: 'name' },
      query: { q: 'tea & milk', page: 2 },
      hex: 'order 17 paid',
      nested: {
        kind: 'batch',
        jobs: [
          { name: 'a', code: 0 },
          { name: 'b', code: 0 },
        ],
      },
      layers: 3,
    },
    path: 'result.structuredContent',
    play: async ({ call }) => call('encoded'),
    tools: {
      encoded: ({ cursor, query, hex, nested, layers }, { uuid, isNoisy, fill, beside }) => {
        const trace = isNoisy ? uuid() : 'fixed'
        const inner = { ...nested, trace, at: fill('{{time}}') }
        const wrapped = Array.from({ length: layers }).reduce(
          (value) => ({ body: JSON.stringify(value) }),
          inner,
        )
        return {
          content: [{ type: 'text', text: 'ok' }],
          structuredContent: {
            cursor: Buffer.from(JSON.stringify({ ...cursor, trace })).toString('base64url'),
            query: `${new URLSearchParams({ ...query, trace })}`,
            note: Buffer.from(`${hex} ${trace}`).toString('base64'),
            wrapped,
            ...beside(),
          },
        }
      },
    },
    changes: [
      { id: 'base64-json', set: ['cursor.offset', 60], token: '', path: 'result.structuredContent.cursor' },
      {
        id: 'base64-json-member',
        set: ['cursor.order', 'date'],
        token: '',
        path: 'result.structuredContent.cursor',
      },
      { id: 'query-text', set: ['query.page', 3], token: '', path: 'result.structuredContent.query' },
      { id: 'base64-text', set: ['hex', 'order 18 paid'], token: '', path: 'result.structuredContent.note' },
      {
        id: 'nested-value',
        set: ['nested.jobs[1].code', 1],
        token: '1',
        path: 'result.structuredContent.wrapped',
      },
      {
        id: 'nested-name',
        set: ['nested.kind', 'single'],
        token: 'single',
        path: 'result.structuredContent.wrapped',
      },
      {
        id: 'nested-order',
        swap: ['nested.jobs', 0, 1],
        token: '',
        path: 'result.structuredContent.wrapped',
      },
      { id: 'one-layer-less', set: ['layers', 2], token: '', path: 'result.structuredContent.wrapped' },
    ],
  },
  {
    name: 'twins',
    shape: 'structured content beside its text',
    document: {
      state: 'ready',
      isOtherId: false,
      isOtherCount: false,
      isTextGone: false,
      isOtherTime: false,
    },
    root: '',
    path: 'result',
    play: async ({ call }) => call('twins'),
    tools: {
      twins: ({ state, isOtherId, isOtherCount, isTextGone }, { uuid, isNoisy, fill, meta }) => {
        const id = isNoisy ? uuid() : '0c5f3a52-6f0d-4a8e-9a10-5b2f7c9d1e33'
        const structuredContent = { id, n: 3, state, at: fill('{{time}}') }
        const other = isNoisy ? uuid() : '11111111-6f0d-4a8e-9a10-5b2f7c9d1e33'
        const twin = { ...structuredContent, ...(isOtherId && { id: other }), ...(isOtherCount && { n: 4 }) }
        return {
          content: isTextGone ? [] : [{ type: 'text', text: JSON.stringify(twin) }],
          structuredContent,
          ...meta(),
        }
      },
    },
    changes: [
      { id: 'other-id-in-text', set: ['isOtherId', true], token: '' },
      { id: 'other-count-in-text', set: ['isOtherCount', true], token: '4' },
      { id: 'text-gone', set: ['isTextGone', true], token: '' },
      { id: 'both', set: ['state', 'late'] },
    ],
  },
  {
    name: 'catalogue',
    shape: 'pages of tools, icons and titles',
    document: {
      pages: [
        [
          {
            name: 'find',
            title: 'Find',
            description: 'Finds orders',
            inputSchema: { type: 'object', properties: { q: { type: 'string', description: 'Words' } } },
            icons: [{ src: 'https://shop.example/find.png', mimeType: 'image/png', sizes: ['48x48'] }],
            _meta: { 'example.com/cost': 1 },
          },
          {
            name: 'open',
            inputSchema: { type: 'object' },
            annotations: { title: 'Open', openWorldHint: false },
          },
        ],
        [
          {
            name: 'close',
            inputSchema: { type: 'object', additionalProperties: false },
            annotations: { destructiveHint: false },
          },
        ],
      ],
    },
    path: 'result',
    play: async ({ ask }) => {
      const { nextCursor: cursor } = await ask('tools-1', 'tools/list', {})
      await ask('tools-2', 'tools/list', { cursor })
    },
    methods: {
      'tools/list': ({ pages }, { params, id, session, meta, cached }) => {
        session.cursors ??= new Map()
        const page = params.cursor === undefined ? 0 : (session.cursors.get(params.cursor) ?? 9)
        const nextCursor = id('tools', page + 1)
        session.cursors.set(nextCursor, page + 1)
        return {
          tools: pages[page] ?? [],
          ...(page + 1 < pages.length && { nextCursor }),
          ...cached(),
          ...meta(),
        }
      },
    },
    changes: [
      { id: 'icon', set: ['pages[0][0].icons[0].src', 'https://shop.example/seek.png'], step: 'tools-1' },
      { id: 'icon-size', set: ['pages[0][0].icons[0].sizes', ['96x96']], step: 'tools-1', token: '96' },
      { id: 'icon-gone', drop: 'pages[0][0].icons', step: 'tools-1', token: '' },
      { id: 'meta', set: ['pages[0][0]._meta', { 'example.com/cost': 2 }], step: 'tools-1', token: '' },
      { id: 'annotated-title', set: ['pages[0][1].annotations.title', 'Show'], step: 'tools-1' },
      { id: 'open-world', set: ['pages[0][1].annotations.openWorldHint', true], step: 'tools-1', token: '' },
      {
        id: 'argument-description',
        set: ['pages[0][0].inputSchema.properties.q.description', 'Text'],
        step: 'tools-1',
      },
      {
        id: 'additional',
        set: ['pages[1][0].inputSchema.additionalProperties', true],
        step: 'tools-2',
        token: '',
      },
      { id: 'to-other-page', set: ['pages', [[], []]], step: 'tools-1', token: '' },
      { id: 'hint-of-second-page', drop: 'pages[1][0].annotations', step: 'tools-2', token: '' },
    ],
  },
  {
    name: 'completions',
    shape: 'completions',
    document: { values: ['berlin', 'bern', 'bergen'], total: 12, hasMore: true, isRefused: false },
    path: 'result',
    step: 'complete',
    play: async ({ ask }) => {
      await ask('complete', 'completion/complete', {
        ref: { type: 'ref/resource', uri: 'city://{name}' },
        argument: { name: 'name', value: 'ber' },
        context: { arguments: { country: 'de' } },
      })
    },
    methods: {
      'completion/complete': ({ values, total, hasMore, isRefused }, { meta }) =>
        isRefused
          ? { rpcError: { code: -32602, message: 'Unknown reference' } }
          : { completion: { values, ...(total !== undefined && { total }), hasMore }, ...meta() },
    },
    changes: [
      { id: 'has-more', set: ['hasMore', false], token: '' },
      { id: 'total-gone', drop: 'total', token: '' },
      { id: 'empty', set: ['values', []], token: '' },
      { id: 'value-new', add: ['values[1]', 'beret'], token: 'beret' },
      { id: 'refused', set: ['isRefused', true], path: '', token: '' },
    ],
  },
  {
    name: 'error-data',
    shape: 'data of errors',
    document: {
      error: {
        code: -32602,
        message: 'Invalid params (request {{uuid}})',
        data: {
          errors: [
            { path: '/a', keyword: 'type' },
            { path: '/b', keyword: 'enum' },
          ],
          retryAfter: 5,
          hint: 'see {{hex}}',
        },
      },
    },
    path: '',
    play: async ({ call }) => call('error-data'),
    tools: {
      'error-data': ({ error }, { fill }) =>
        error === undefined
          ? { content: [{ type: 'text', text: 'invalid' }], isError: true }
          : { rpcError: JSON.parse(fill(JSON.stringify(error))) },
    },
    changes: [
      { id: 'keyword', set: ['error.data.errors[1].keyword', 'const'] },
      { id: 'one-gone', drop: 'error.data.errors[0]', token: '' },
      { id: 'retry', set: ['error.data.retryAfter', 50] },
      { id: 'data-to-text', set: ['error.data', 'see above'], token: '' },
      { id: 'message', replace: ['error.message', 'Invalid params', 'Invalid request'], token: '' },
      { id: 'fixed-part-of-volatile', replace: ['error.data.hint', 'see', 'read'] },
      { id: 'code', set: ['error.code', -32603] },
      { id: 'to-tool-error', set: ['error', undefined], token: '' },
    ],
  },
  {
    name: 'wide-question',
    shape: 'members of questions',
    document: {
      sampling: {
        messages: [
          { role: 'user', content: { type: 'text', text: 'What is on the picture? ({{hex}})' } },
          { role: 'user', content: { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } },
        ],
        modelPreferences: { hints: [{ name: 'large' }, { name: 'small' }], costPriority: 0.3 },
        stopSequences: ['END'],
        temperature: 0.2,
        maxTokens: 50,
        includeContext: 'none',
        metadata: { team: 'vision' },
      },
      form: {
        mode: 'form',
        message: 'Where to? (case {{hex}})',
        requestedSchema: {
          type: 'object',
          properties: {
            city: { type: 'string', title: 'City', minLength: 2, default: 'Bern' },
            date: { type: 'string', format: 'date' },
            class: { type: 'string', enum: ['1', '2'], enumNames: ['First', 'Second'] },
            seats: { type: 'integer', minimum: 1, maximum: 9 },
          },
          required: ['city'],
        },
      },
      text: 'Booked',
    },
    path: '',
    play: async ({ call }) => call('wide-question'),
    tools: {
      'wide-question': async ({ sampling, form, text: booked }, { question, fill, beside }) => {
        const filled = (value) => JSON.parse(fill(JSON.stringify(value)))
        await question('sampling', 'sampling/createMessage', filled(sampling))
        await question('form', 'elicitation/create', filled(form))
        return { content: [{ type: 'text', text: booked }], structuredContent: { ok: true, ...beside() } }
      },
    },
    changes: [
      { id: 'image', set: ['sampling.messages[1].content.data', 'iVBORw0KGgp='], token: '' },
      { id: 'image-type', set: ['sampling.messages[1].content.mimeType', 'image/gif'] },
      { id: 'text-beside-noise', replace: ['sampling.messages[0].content.text', 'picture', 'chart'] },
      { id: 'hint', set: ['sampling.modelPreferences.hints[0].name', 'huge'] },
      { id: 'hints-exchanged', swap: ['sampling.modelPreferences.hints', 0, 1], token: '' },
      { id: 'temperature', set: ['sampling.temperature', 0.9] },
      { id: 'stop-gone', drop: 'sampling.stopSequences', token: '' },
      { id: 'context', set: ['sampling.includeContext', 'allServers'] },
      { id: 'metadata', set: ['sampling.metadata.team', 'sales'] },
      { id: 'default', set: ['form.requestedSchema.properties.city.default', 'Rome'], step: 'wide-question' },
      { id: 'format', set: ['form.requestedSchema.properties.date.format', 'date-time'] },
      { id: 'enum-names', set: ['form.requestedSchema.properties.class.enumNames[1]', 'Coach'] },
      { id: 'maximum', set: ['form.requestedSchema.properties.seats.maximum', 4], token: '4' },
      { id: 'not-required', set: ['form.requestedSchema.required', []], token: '' },
      { id: 'form-text-beside-noise', replace: ['form.message', 'Where to', 'Where from'] },
    ],
  },
  {
    name: 'blobs',
    shape: 'resource blobs and metadata',
    document: {
      contents: [
        {
          uri: 'pic://1',
          mimeType: 'image/png',
          blob: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB',
          _meta: { 'example.com/dpi': 72 },
        },
        { uri: 'pic://1#caption', mimeType: 'text/plain', text: 'A tea pot, taken {{time}} by {{uuid}}' },
      ],
      listed: {
        uri: 'pic://1',
        name: 'pot',
        title: 'Tea pot',
        size: 1024,
        annotations: { audience: ['user', 'assistant'], priority: 1 },
        icons: [{ src: 'data:image/png;base64,AAAA' }],
      },
    },
    path: 'result',
    play: async ({ ask }) => {
      await ask('list', 'resources/list', {})
      await ask('read', 'resources/read', { uri: 'pic://1' })
    },
    methods: {
      'resources/list': ({ listed }, { cached, meta }) => ({ resources: [listed], ...cached(), ...meta() }),
      'resources/read': ({ contents }, { fill, cached }) => ({
        contents: JSON.parse(fill(JSON.stringify(contents))),
        ...cached(),
      }),
    },
    changes: [
      { id: 'blob', set: ['contents[0].blob', 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAAB'], step: 'read', token: '' },
      {
        id: 'blob-to-text',
        set: ['contents[0]', { uri: 'pic://1', mimeType: 'image/png', text: 'png' }],
        step: 'read',
        token: '',
      },
      { id: 'meta', set: ['contents[0]._meta', { 'example.com/dpi': 300 }], step: 'read', token: '' },
      { id: 'caption', replace: ['contents[1].text', 'tea pot', 'coffee pot'], step: 'read' },
      { id: 'contents-exchanged', swap: ['contents', 0, 1], step: 'read', token: '' },
      { id: 'size', set: ['listed.size', 2048], step: 'list' },
      { id: 'audience', set: ['listed.annotations.audience', ['user']], step: 'list', token: '' },
      { id: 'icon', set: ['listed.icons[0].src', 'data:image/png;base64,BBBB'], step: 'list', token: '' },
      { id: 'title', set: ['listed.title', 'Kettle'], step: 'list' },
    ],
  },
  {
    name: 'task-list',
    shape: 'tasks in several states',
    document: {
      states: ['working', 'working', 'completed'],
      text: 'Built 3 parts',
      isError: false,
      isCancelled: true,
    },
    path: '',
    step: 'list',
    play: async ({ call, ask, era }) => {
      const { task = {}, taskId = task.taskId } = await call(
        'task-list',
        {},
        'create',
        {},
        { task: { ttl: 60000 } },
      )
      await ask('poll-1', 'tasks/get', { taskId })
      await ask('poll-2', 'tasks/get', { taskId })
      if (era === 'legacy') await ask('result', 'tasks/result', { taskId })
      await ask('cancel', 'tasks/cancel', { taskId })
    },
    tools: {
      'task-list': ({ states }, { taskOf, era, session }) => {
        session.polls = 0
        const task = taskOf({ status: states[0], ttl: 60000, pollInterval: 50 })
        return era === 'legacy' ? { task } : { resultType: 'task', ...task }
      },
    },
    methods: {
      'tasks/get': ({ states, text: built, isError }, { taskOf, era, session, beside }) => {
        session.polls = (session.polls ?? 0) + 1
        const status = states[session.polls]
        return {
          ...taskOf({ status, ttl: 60000, pollInterval: 50 }),
          ...(era === 'modern' && status === 'completed' && { result: builtResult(built, isError, beside) }),
        }
      },
      'tasks/result': ({ text: built, isError }, { beside }) => builtResult(built, isError, beside),
      'tasks/cancel': ({ isCancelled }, { taskOf, era }) =>
        isCancelled
          ? era === 'modern'
            ? {}
            : taskOf({ status: 'cancelled', ttl: 60000 })
          : { rpcError: { code: -32602, message: 'Task is already completed' } },
    },
    changes: [
      { id: 'earlier', set: ['states[1]', 'completed'], step: 'poll-1', token: '' },
      { id: 'later', set: ['states[2]', 'working'], step: 'poll-2', token: '' },
      { id: 'fails', set: ['states[2]', 'failed'], step: 'poll-2', token: 'failed' },
      {
        id: 'result',
        set: ['text', 'Built 2 parts'],
        step: { legacy: 'result', modern: 'poll-2' },
        token: '2',
      },
      {
        id: 'result-is-error',
        set: ['isError', true],
        step: { legacy: 'result', modern: 'poll-2' },
        token: '',
      },
      { id: 'not-cancelled', set: ['isCancelled', false], step: 'cancel', token: '' },
    ],
  },
  {
    name: 'sequence',
    shape: 'what comes in which order',
    document: {
      logs: [
        { level: 'info', logger: 'a', data: { step: 'open', id: '{{uuid}}' } },
        { level: 'info', logger: 'a', data: { step: 'read', id: '{{uuid}}' } },
        { level: 'info', logger: 'b', data: ['done', 3] },
      ],
      progress: [
        { progress: 10, total: 100 },
        { progress: 60, total: 100, message: 'eta {{ms}} ms' },
        { progress: 100, total: 100 },
      ],
    },
    path: '',
    play: async ({ call, ask, era }) => {
      if (era === 'legacy') await ask('level', 'logging/setLevel', { level: 'debug' })
      await call('sequence', {}, 'sequence', {
        progressToken: 'seq',
        'io.modelcontextprotocol/logLevel': 'debug',
      })
    },
    step: 'sequence',
    tools: {
      sequence: async ({ logs, progress: reports }, { notify, progress, fill, beside }) => {
        const filled = (value) => JSON.parse(fill(JSON.stringify(value)))
        for (const log of logs) await notify('notifications/message', filled(log))
        for (const report of reports) await progress(filled(report))
        return { content: [{ type: 'text', text: 'ok' }], structuredContent: { ok: true, ...beside() } }
      },
    },
    changes: [
      { id: 'data-in-list', set: ['logs[2].data[1]', 4], token: '4' },
      { id: 'data-to-text', set: ['logs[2].data', 'done 3'], token: 'done 3' },
      { id: 'member-beside-noise', set: ['logs[1].data.step', 'write'] },
      { id: 'logger-of-noise', set: ['logs[0].logger', 'z'] },
      { id: 'message-of-progress', replace: ['progress[1].message', 'eta', 'left'] },
      { id: 'progress-value', set: ['progress[1].progress', 70], token: '70' },
      { id: 'never-ends', drop: 'progress[2]', token: '' },
    ],
  },
  {
    name: 'numbers',
    shape: 'numbers and texts at their limits',
    document: {
      big: 9007199254740993n.toString(),
      tiny: 1e-7,
      negative: -5,
      text: ' padded ',
      mixed: [1, '1', true, null, [1], { a: 1 }],
      same: { left: 'x', right: 'x' },
      empty: '',
      dates: ['2020-01-31', '2020-02-29'],
    },
    root: 'result.structuredContent',
    play: async ({ call }) => call('numbers'),
    tools: {
      numbers: (document, { beside }) => ({
        content: [{ type: 'text', text: 'ok' }],
        structuredContent: { ...document, ...beside() },
      }),
    },
    changes: [
      { id: 'last-digit', set: ['big', '9007199254740992'] },
      { id: 'tiny', set: ['tiny', 1e-8], token: '' },
      { id: 'sign', set: ['negative', 5], token: '' },
      { id: 'padding', set: ['text', 'padded'], token: '' },
      { id: 'true-to-one', set: ['mixed[2]', 1], token: '' },
      { id: 'null-to-zero', set: ['mixed[3]', 0], token: '' },
      { id: 'list-to-number', set: ['mixed[4]', 1], token: '' },
      { id: 'one-of-two', set: ['same.right', 'y'] },
      { id: 'empty-to-space', set: ['empty', ' '], token: '' },
      { id: 'old-date', set: ['dates[1]', '2020-02-28'] },
    ],
  },
  {
    name: 'crowd',
    shape: 'changes among lists that vary',
    document: {
      prices: { ant: 1, bee: 2, cat: 3, dog: 4, eel: 5, fox: 6 },
      shown: 6,
      name: 'shop',
      first: 'open',
    },
    path: 'result.structuredContent',
    play: async ({ call }) => call('crowd'),
    tools: {
      crowd: ({ prices, shown, name, first }, { isNoisy, uuid, beside }) => {
        const items = Object.entries(prices).map(([sku, price]) => ({
          sku,
          price,
          ...(isNoisy && { trace: uuid() }),
        }))
        const mixed = isNoisy
          ? items
              .map((item) => ({ item, at: Math.random() }))
              .toSorted((a, b) => a.at - b.at)
              .map(({ item }) => item)
          : items
        return {
          content: [{ type: 'text', text: 'ok' }],
          structuredContent: {
            items: mixed.slice(0, shown),
            name,
            events: [first, 'paid', 'sent'].map((event) => ({ event, ...(isNoisy && { id: uuid() }) })),
            ...beside(),
          },
        }
      },
    },
    changes: [
      { id: 'price', set: ['prices.cat', 9], token: '' },
      { id: 'sku', rename: ['prices.dog', 'dodo'], token: '' },
      { id: 'fewer', set: ['shown', 5], token: '' },
      { id: 'equal-prices', set: ['prices.bee', 1], token: '' },
      { id: 'event', set: ['first', 'sent'], token: '' },
    ],
  },
]

function builtResult(built, isError, beside) {
  return {
    content: [{ type: 'text', text: built }],
    structuredContent: { ok: true, ...beside() },
    ...(isError && { isError: true }),
  }
}
