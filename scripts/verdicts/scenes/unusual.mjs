// Answers that are unlike those of the other scenes: further formats in texts, content blocks with all of their members, and deep values.
import { text } from './texts.mjs'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const LOREM = Array.from(
  { length: 120 },
  (_, n) =>
    `Paragraph ${n + 1} of the handbook says that the ${n % 2 === 0 ? 'left' : 'right'} valve stays closed.`,
).join('\n\n')

export const unusualScenes = [
  text('fenced', 'fenced and prefixed JSON', {
    template:
      'Here is the order:\n\n```json\n{\n  "id": 17,\n  "request": "{{uuid}}",\n  "lines": [{ "sku": "A-1", "count": 2 }, { "sku": "B-2", "count": 5 }],\n  "open": true\n}\n```\n\nAsk me for more.',
    changes: [
      ['number', '"count": 5', '"count": 6'],
      ['member-gone', ',\n  "open": true', '', 'open'],
      ['item-gone', ', { "sku": "B-2", "count": 5 }', '', 'B-2'],
      ['text-around', 'for more', 'for less'],
      ['boolean', 'true', 'false'],
      ['broken', '"open": true\n}', '"open": true\n', ''],
    ],
  }),
  text('prefixed', 'fenced and prefixed JSON', {
    template: 'Result: {"state":"ready","trace":"{{hex}}","n":[1,2,3]} in {{ms}} ms',
    changes: [
      ['text', 'ready', 'failed'],
      ['item', '[1,2,3]', '[1,2,4]'],
      ['label', 'Result', 'Error'],
      ['unit', ' ms', ' s', ''],
    ],
  }),
  text('trace', 'stack traces and diffs', {
    template:
      'TypeError: cannot read "name" of undefined\n    at load (/srv/app/orders.js:42:17)\n    at async run (/srv/app/main.js:7:3)\nrequest {{uuid}} at {{time}}',
    changes: [
      ['message', 'undefined', 'null'],
      ['line', ':42:17', ':43:17', '43'],
      ['frame-gone', '\n    at async run (/srv/app/main.js:7:3)', '', 'main'],
      ['kind', 'TypeError', 'RangeError'],
    ],
  }),
  text('patch', 'stack traces and diffs', {
    template:
      'diff --git a/a.txt b/a.txt\nindex {{hex}}..9c0d1e2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n',
    changes: [
      ['added-line', '+TWO', '+Two'],
      ['sign', '-two', '+two', 'two'],
      ['hunk', '@@ -1,3 +1,3 @@', '@@ -1,3 +1,4 @@', ''],
      ['context', ' three', ' four'],
    ],
  }),
  text('ini', 'configuration and logs', {
    template:
      '[server]\nhost = db-1\nport = 5432\ntoken = {{hex}}\n\n[limits]\ncpu = 500m\n; started {{time}}\nmemory = 1Gi\n',
    changes: [
      ['value', '5432', '5433'],
      ['key', 'host', 'node'],
      ['section', '[limits]', '[quota]'],
      ['line-gone', 'cpu = 500m\n', '', 'cpu'],
      [
        'moved',
        'cpu = 500m\n; started {{time}}\nmemory = 1Gi',
        'memory = 1Gi\n; started {{time}}\ncpu = 500m',
        '',
      ],
    ],
  }),
  text('deployment', 'configuration and logs', {
    template:
      'kind: Deployment\nmetadata:\n  name: web\n  uid: {{uuid}}\nspec:\n  replicas: 3\n  paused: false\n  ports:\n    - 80\n    - 443\n',
    changes: [
      ['number', 'replicas: 3', 'replicas: 2'],
      ['boolean', 'false', 'true'],
      ['indent', '  paused', 'paused', ''],
      ['item', '443', '8443'],
      ['item-gone', '    - 80\n', '', '80'],
    ],
  }),
  text('access-log', 'configuration and logs', {
    template:
      '10.0.0.7 - ada [{{time}}] "GET /a HTTP/1.1" 200 512\n10.0.0.8 - bob [{{time}}] "GET /b HTTP/1.1" 404 9\n10.0.0.7 - ada [{{time}}] "PUT /c HTTP/1.1" 201 77\n',
    changes: [
      ['status', ' 404 ', ' 500 '],
      ['user', 'bob', 'eve'],
      ['method', 'PUT', 'POST'],
      ['path', '/b', '/d', ''],
      ['line-gone', '10.0.0.8 - bob [{{time}}] "GET /b HTTP/1.1" 404 9\n', '', '404'],
    ],
  }),
  text('handbook', 'long texts', {
    template: `${LOREM}\n\nPrinted {{time}} as {{uuid}}.`,
    changes: [
      [
        'word',
        'Paragraph 77 of the handbook says that the left',
        'Paragraph 77 of the handbook says that the right',
      ],
      [
        'negation',
        'Paragraph 30 of the handbook says that the right valve stays',
        'Paragraph 30 of the handbook says that the right valve never stays',
      ],
      ['paragraph-gone', 'Paragraph 50 of the handbook says that the right valve stays closed.\n\n', '', ''],
      ['last-word', 'Printed', 'Copied'],
    ],
  }),
  text('unicode', 'unicode', {
    template: '温度: 21℃ — état “prêt” 🚀 {{uuid}}\nnaïve café, Straße, Ω≈3.0',
    changes: [
      ['cjk', '温度', '湿度'],
      ['emoji', '🚀', '🛸', ''],
      ['quotes', '“prêt”', '"prêt"', ''],
      ['composed', 'café', 'cafe\u0301', ''],
      ['sharp-s', 'Straße', 'Strasse'],
      ['number', '21℃', '22℃', ''],
    ],
  }),
  {
    name: 'blocks',
    shape: 'all members of content blocks',
    document: {
      content: [
        {
          type: 'text',
          text: 'one',
          annotations: { audience: ['user'], priority: 0.5, lastModified: '2025-01-12T15:00:58Z' },
          _meta: { 'example.com/rank': 3 },
        },
        { type: 'image', data: PNG, mimeType: 'image/png' },
        { type: 'audio', data: 'UklGRiQAAABXQVZF', mimeType: 'audio/wav' },
        {
          type: 'resource_link',
          uri: 'doc://7',
          name: 'seven',
          title: 'Seven',
          description: 'The seventh',
          mimeType: 'text/plain',
          size: 7,
        },
        { type: 'resource', resource: { uri: 'doc://8', mimeType: 'text/plain', text: 'eight\nlines' } },
        { type: 'resource', resource: { uri: 'doc://9', mimeType: 'image/png', blob: PNG } },
      ],
      isError: false,
    },
    root: 'result',
    play: async ({ call }) => call('blocks'),
    tools: { blocks: (document, { meta }) => ({ ...document, ...meta() }) },
    changes: [
      { id: 'priority', set: ['content[0].annotations.priority', 0.9] },
      { id: 'audience', set: ['content[0].annotations.audience[0]', 'assistant'] },
      { id: 'last-modified', set: ['content[0].annotations.lastModified', '2025-01-13T15:00:58Z'] },
      { id: 'block-meta', set: ['content[0]._meta', { 'example.com/rank': 4 }], token: '' },
      { id: 'image', set: ['content[1].data', PNG.replace('Nk+M9', 'Nk+M8')], token: '' },
      { id: 'image-type', set: ['content[1].mimeType', 'image/webp'] },
      { id: 'audio', set: ['content[2].data', 'UklGRiUAAABXQVZF'], token: '' },
      { id: 'link', set: ['content[3].uri', 'doc://6'], token: '' },
      { id: 'link-size', set: ['content[3].size', 8] },
      { id: 'link-description', set: ['content[3].description', 'The eighth'] },
      { id: 'embedded-text', replace: ['content[4].resource.text', 'lines', 'rows'] },
      { id: 'blob', set: ['content[5].resource.blob', PNG.replace('Nk+M9', 'Nk+M8')], token: '' },
      { id: 'block-gone', drop: 'content[2]', token: '' },
      { id: 'blocks-exchanged', swap: ['content', 1, 2] },
      { id: 'is-error', set: ['isError', true], path: '', token: '' },
    ],
  },
  {
    name: 'deep',
    shape: 'deep values',
    document: {
      grid: [
        [
          [1, 2],
          [3, 4],
        ],
        [
          [5, 6],
          [7, 8],
        ],
      ],
      amounts: ['10', '20', '30'],
      ratio: '0.50',
      keyed: { 'a.b': { 'c d': 1 }, 'x[0]': 2, '': 3 },
      pairs: [
        ['a', 1],
        ['b', 2],
      ],
      same: [5, 5, 5, 5],
      none: [],
      empty: {},
    },
    root: 'result.structuredContent',
    play: async ({ call }) => call('deep'),
    tools: {
      deep: (document, { beside }) => ({
        content: [{ type: 'text', text: 'ok' }],
        structuredContent: { ...document, ...beside() },
      }),
    },
    changes: [
      { id: 'cell', set: ['grid[1][0][1]', 9] },
      { id: 'rows-exchanged', swap: ['grid', 0, 1], path: 'result.structuredContent.grid' },
      { id: 'number-in-text', set: ['amounts[1]', '21'] },
      { id: 'text-to-number', set: ['amounts[1]', 20], token: '20' },
      { id: 'zeros', set: ['ratio', '0.5'] },
      { id: 'dotted-name', set: ['keyed', { 'a.b': { 'c d': 2 }, 'x[0]': 2, '': 3 }], token: '' },
      { id: 'bracket-name', set: ['keyed', { 'a.b': { 'c d': 1 }, 'x[0]': 3, '': 3 }], token: '' },
      { id: 'empty-name', set: ['keyed', { 'a.b': { 'c d': 1 }, 'x[0]': 2, '': 4 }], token: '' },
      { id: 'pair', set: ['pairs[1][1]', 3] },
      { id: 'one-of-same', set: ['same[2]', 6] },
      { id: 'one-less', drop: 'same[2]', token: '' },
      { id: 'none-to-one', set: ['none', [1]], token: '' },
      { id: 'empty-to-member', set: ['empty', { a: 1 }], token: '' },
      { id: 'empty-to-null', set: ['empty', null], token: '' },
      { id: 'list-to-object', set: ['none', {}], token: '' },
    ],
  },
  {
    name: 'disagreeing-twin',
    shape: 'structured content beside its text',
    document: { text: '{"n":3,"state":"ready"}', structured: { n: 3, state: 'ready' } },
    root: '',
    path: 'result',
    play: async ({ call }) => call('disagreeing-twin'),
    tools: {
      'disagreeing-twin': ({ text: twin, structured }, { meta }) => ({
        content: [{ type: 'text', text: twin }],
        structuredContent: structured,
        ...meta(),
      }),
    },
    changes: [
      { id: 'text-only', replace: ['text', '"n":3', '"n":4'], token: '4' },
      { id: 'structured-only', set: ['structured.n', 4] },
      { id: 'structured-gone', drop: 'structured', token: '' },
      { id: 'text-is-prose', set: ['text', 'ready, 3'], token: '' },
    ],
  },
]
