// Labelled pairs of sessions: [name, label, before, after]. Each session is a list of calls: [tool, arguments, result]. same: nothing that counts
// differs. change: something differs and breaks nobody. breaking: a client can fail.
const data = (value) => ({ content: [], structuredContent: value })
const text = (value) => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
})
const failed = (value) => ({ ...text(value), isError: true })
const rpc = (code, message, more) => ({ error: { code, message, ...more } })
const once = (result) => [['get', { id: 1 }, result]]
const pair = (name, label, before, after) => [name, label, once(before), once(after)]
const sessions = (name, label, before, after) => [name, label, before, after]
const image = (bytes, mimeType = 'image/png') => ({ content: [{ type: 'image', data: bytes, mimeType }] })
const ROW = (id, price) => ({ id, price })
const NOW = '1970-01-01T00:00:00.004Z'

/** @type {[string, string, unknown[], unknown[]][]} */
export const RESULT_PAIRS = [
  pair('equal', 'same', data({ a: 1 }), data({ a: 1 })),
  pair('order of members', 'same', data({ a: 1, b: 2 }), data({ b: 2, a: 1 })),
  pair(
    'JSON text with other white space',
    'same',
    text('{"a":1,"b":[1,2]}'),
    text('{ "a": 1,\n "b": [1, 2] }'),
  ),
  pair('JSON text with members in another order', 'same', text('{"a":1,"b":2}'), text('{"b":2,"a":1}')),
  pair('number spelled differently', 'same', text('{"a":1.0}'), text('{"a":1}')),
  pair('a time that follows the clock', 'same', data({ at: NOW }), data({ at: '1970-01-01T00:00:00.005Z' })),
  pair('value changed', 'change', data({ price: 2 }), data({ price: 3 })),
  pair('text changed', 'change', text('The price is 2 EUR.'), text('The price is 3 EUR.')),
  pair('prose reworded', 'change', text('Done, 3 files were changed.'), text('Success: 3 files changed.')),
  pair('field added', 'change', data({ a: 1 }), data({ a: 1, b: 2 })),
  pair('field added in JSON text', 'change', text({ a: 1 }), text({ a: 1, b: 2 })),
  pair('nested field added', 'change', data({ a: { b: 1 } }), data({ a: { b: 1, c: 2 } })),
  pair('field removed', 'breaking', data({ a: 1, b: 2 }), data({ a: 1 })),
  pair('field removed in JSON text', 'breaking', text({ a: 1, b: 2 }), text({ a: 1 })),
  pair('nested field removed', 'breaking', data({ a: { b: { c: 1, d: 2 } } }), data({ a: { b: { c: 1 } } })),
  pair('field renamed', 'breaking', data({ userId: 1 }), data({ user_id: 1 })),
  pair('number to text', 'breaking', data({ n: 1 }), data({ n: '1' })),
  pair('text to null', 'breaking', data({ s: 'a' }), data({ s: null })),
  pair('object to list', 'breaking', data({ o: { a: 1 } }), data({ o: [{ a: 1 }] })),
  pair('list to object', 'breaking', data({ o: [1] }), data({ o: { items: [1] } })),
  pair('boolean to number', 'breaking', data({ ok: true }), data({ ok: 1 })),
  pair(
    'type in a list item',
    'breaking',
    data({ rows: [{ n: 1 }, { n: 2 }] }),
    data({ rows: [{ n: 1 }, { n: '2' }] }),
  ),
  pair(
    'field gone from every item',
    'breaking',
    data({
      rows: [
        { id: 'a', n: 1 },
        { id: 'b', n: 2 },
      ],
    }),
    data({ rows: [{ id: 'a' }, { id: 'b' }] }),
  ),
  pair('item added', 'change', data({ rows: [ROW('a', 1)] }), data({ rows: [ROW('a', 1), ROW('b', 2)] })),
  pair('item removed', 'change', data({ rows: [ROW('a', 1), ROW('b', 2)] }), data({ rows: [ROW('a', 1)] })),
  pair(
    'item in the middle removed',
    'change',
    data({ rows: [ROW('a', 1), ROW('b', 2), ROW('c', 3)] }),
    data({ rows: [ROW('a', 1), ROW('c', 3)] }),
  ),
  pair(
    'items moved',
    'change',
    data({ rows: [ROW('a', 1), ROW('b', 2), ROW('c', 3)] }),
    data({ rows: [ROW('c', 3), ROW('a', 1), ROW('b', 2)] }),
  ),
  pair(
    'an item moved and changed',
    'change',
    data({ rows: [ROW('a', 1), ROW('b', 2), ROW('c', 3)] }),
    data({ rows: [ROW('c', 9), ROW('a', 1), ROW('b', 2)] }),
  ),
  pair('list emptied', 'change', data({ rows: [1, 2] }), data({ rows: [] })),
  pair('list filled', 'change', data({ rows: [] }), data({ rows: [1] })),
  pair('text is no longer JSON', 'breaking', text('{"a":1}'), text('a is 1')),
  pair('text became JSON', 'change', text('a is 1'), text('{"a":1}')),
  pair('text to image', 'breaking', text('x'), {
    content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }],
  }),
  pair('a second block', 'change', text('x'), {
    content: [
      { type: 'text', text: 'x' },
      { type: 'text', text: 'y' },
    ],
  }),
  pair(
    'structured content dropped',
    'breaking',
    { content: [{ type: 'text', text: '{"a":1}' }], structuredContent: { a: 1 } },
    text('{"a":1}'),
  ),
  pair('structured content added', 'change', text('{"a":1}'), {
    content: [{ type: 'text', text: '{"a":1}' }],
    structuredContent: { a: 1 },
  }),
  pair('success to isError', 'breaking', text('ok'), failed('no')),
  pair('isError to success', 'change', failed('no'), text('ok')),
  pair('another error text', 'change', failed('not found'), failed('there is no such file')),
  pair('success to JSON-RPC error', 'breaking', text('ok'), rpc(-32602, 'bad')),
  pair('JSON-RPC error to success', 'change', rpc(-32602, 'bad'), text('ok')),
  pair('error code changed', 'breaking', rpc(-32602, 'bad'), rpc(-32603, 'bad')),
  pair('error message changed', 'change', rpc(-32602, 'bad'), rpc(-32602, 'worse')),
  pair('error data added', 'change', rpc(-32602, 'bad'), rpc(-32602, 'bad', { data: { field: 'x' } })),
  pair('isError to JSON-RPC error', 'breaking', failed('no'), rpc(-32000, 'no')),
  pair('CSV: a row added', 'change', text('id,n\n1,a\n2,b\n'), text('id,n\n1,a\n2,b\n3,c\n')),
  pair('CSV: a cell changed', 'change', text('id,n\n1,a\n2,b\n'), text('id,n\n1,a\n2,c\n')),
  pair('large number changed', 'change', data({ id: 12345678901 }), data({ id: 12345678902 })),
  pair('empty text', 'change', text('x'), text('')),
  pair('unused id changed', 'change', data({ id: 'usr-4f1a09c2' }), data({ id: 'usr-99d0e1b7' })),
  pair('JSON in JSON', 'breaking', data({ raw: '{"a":1,"b":2}' }), data({ raw: '{"a":1}' })),
  pair(
    'deep value',
    'change',
    data({ a: [{ b: [{ c: { d: 1 } }] }] }),
    data({ a: [{ b: [{ c: { d: 2 } }] }] }),
  ),
  [
    'another order of calls',
    'same',
    [
      ['a', {}, text('x')],
      ['b', {}, text('y')],
    ],
    [
      ['b', {}, text('y')],
      ['a', {}, text('x')],
    ],
  ],
  [
    'a call was added',
    'change',
    [['a', {}, text('x')]],
    [
      ['a', {}, text('x')],
      ['b', {}, text('y')],
    ],
  ],
  [
    'a call was removed',
    'breaking',
    [
      ['a', {}, text('x')],
      ['b', {}, text('y')],
    ],
    [['a', {}, text('x')]],
  ],
  [
    'a repeated call was removed',
    'breaking',
    [
      ['a', { n: 1 }, text('x')],
      ['a', { n: 1 }, text('x')],
    ],
    [['a', { n: 1 }, text('x')]],
  ],
  [
    'an argument was changed',
    'change',
    [['a', { q: 'x', n: 1 }, text('x')]],
    [['a', { q: 'x', n: 2 }, text('x')]],
  ],
  [
    'an id is carried',
    'same',
    [
      ['make', {}, data({ id: 'job-11aa22bb' })],
      ['wait', { id: 'job-11aa22bb' }, text('done')],
    ],
    [
      ['make', {}, data({ id: 'job-99cc88dd' })],
      ['wait', { id: 'job-99cc88dd' }, text('done')],
    ],
  ],
  [
    'an id is carried in prose',
    'same',
    [
      ['make', {}, text('Created job-11aa22bb.')],
      ['wait', { id: 'job-11aa22bb' }, text('job-11aa22bb is done')],
    ],
    [
      ['make', {}, text('Created job-99cc88dd.')],
      ['wait', { id: 'job-99cc88dd' }, text('job-99cc88dd is done')],
    ],
  ],
  [
    'a carried id, and a field is gone',
    'breaking',
    [
      ['make', {}, data({ id: 'job-11aa22bb', url: 'x' })],
      ['wait', { id: 'job-11aa22bb' }, text('done')],
    ],
    [
      ['make', {}, data({ id: 'job-99cc88dd' })],
      ['wait', { id: 'job-99cc88dd' }, text('done')],
    ],
  ],
  [
    'a carried id of another shape',
    'change',
    [
      ['make', {}, data({ id: '123e4567-e89b-12d3-a456-426614174000' })],
      ['wait', { id: '123e4567-e89b-12d3-a456-426614174000' }, text('done')],
    ],
    [
      ['make', {}, data({ id: 'job-99' })],
      ['wait', { id: 'job-99' }, text('done')],
    ],
  ],
  [
    'two ids are swapped',
    'same',
    [
      ['make', { n: 1 }, data({ id: 'job-11aa22bb' })],
      ['make', { n: 2 }, data({ id: 'job-33cc44dd' })],
      ['wait', { id: 'job-33cc44dd' }, text('two')],
      ['wait', { id: 'job-11aa22bb' }, text('one')],
    ],
    [
      ['make', { n: 1 }, data({ id: 'job-55ee66ff' })],
      ['make', { n: 2 }, data({ id: 'job-77aa88bb' })],
      ['wait', { id: 'job-77aa88bb' }, text('two')],
      ['wait', { id: 'job-55ee66ff' }, text('one')],
    ],
  ],
  [
    'optional field',
    'change',
    [
      ['get', { id: 1 }, data({ a: 1, b: 2 })],
      ['get', { id: 2 }, data({ a: 1 })],
    ],
    [
      ['get', { id: 1 }, data({ a: 1 })],
      ['get', { id: 2 }, data({ a: 1 })],
    ],
  ],
  [
    'nullable field',
    'change',
    [
      ['get', { id: 1 }, data({ a: 'x' })],
      ['get', { id: 2 }, data({ a: null })],
    ],
    [
      ['get', { id: 1 }, data({ a: null })],
      ['get', { id: 2 }, data({ a: null })],
    ],
  ],

  // a second set

  pair('integer to fraction', 'change', data({ n: 1 }), data({ n: 1.5 })),
  pair('null filled', 'breaking', data({ s: null }), data({ s: 'a' })),
  pair('null to object', 'breaking', data({ o: null }), data({ o: { a: 1 } })),
  pair('empty object filled', 'change', data({ o: {} }), data({ o: { a: 1 } })),
  pair('object emptied', 'breaking', data({ o: { a: 1 } }), data({ o: {} })),
  pair('text block added', 'change', text('a'), {
    content: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  }),
  pair(
    'text block lost',
    'change',
    {
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
      ],
    },
    text('a'),
  ),
  pair(
    'structuredContent lost',
    'breaking',
    { ...text('{"a":1}'), structuredContent: { a: 1 } },
    text('{"a":1}'),
  ),
  pair('structuredContent added', 'change', text('{"a":1}'), {
    ...text('{"a":1}'),
    structuredContent: { a: 1 },
  }),
  pair(
    'image bytes changed',
    'change',
    { content: [{ type: 'image', data: 'iVBORw0KGgoAAAA', mimeType: 'image/png' }] },
    { content: [{ type: 'image', data: 'iVBORw0KGgoBBBB', mimeType: 'image/png' }] },
  ),
  pair(
    'image mime type changed',
    'change',
    { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] },
    { content: [{ type: 'image', data: 'AAAA', mimeType: 'image/jpeg' }] },
  ),
  pair('text to resource link', 'breaking', text('a'), {
    content: [{ type: 'resource_link', uri: 'file:///a', name: 'a' }],
  }),
  pair('isError false said', 'same', text('a'), { ...text('a'), isError: false }),
  pair('error text reworded', 'change', failed('not found'), failed('no such item')),
  pair('tool error to success', 'change', failed('x'), text('ok')),
  pair('protocol error to tool error', 'change', rpc(-32602, 'bad'), failed('bad')),
  pair('tool error to protocol error', 'breaking', failed('bad'), rpc(-32602, 'bad')),
  pair('success to protocol error', 'breaking', text('ok'), rpc(-32603, 'boom')),
  pair('error code changed', 'breaking', rpc(-32602, 'bad'), rpc(-32603, 'bad')),
  pair('error message changed', 'change', rpc(-32602, 'bad'), rpc(-32602, 'invalid')),
  pair(
    'error data member lost',
    'change',
    { error: { code: -1, message: 'x', data: { field: 'a', hint: 'b' } } },
    { error: { code: -1, message: 'x', data: { field: 'a' } } },
  ),
  pair(
    'uuid only',
    'change',
    data({ id: '123e4567-e89b-42d3-a456-426614174000' }),
    data({ id: '9b2e4c1a-7d3f-4a55-8c66-0f1e2d3c4b5a' }),
  ),
  pair('uuid to number', 'breaking', data({ id: '123e4567-e89b-42d3-a456-426614174000' }), data({ id: 7 })),
  pair('lines moved in text', 'change', text('b\na\nc'), text('a\nb\nc')),
  pair(
    'markdown table gains a row',
    'change',
    text('| a | b |\n|---|---|\n| 1 | 2 |'),
    text('| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |'),
  ),
  pair('csv column lost', 'breaking', text('id,name,price\n1,a,2\n2,b,3\n'), text('id,name\n1,a\n2,b\n')),
  pair('yaml key lost', 'change', text('name: a\nprice: 2\ntags:\n  - x\n'), text('name: a\ntags:\n  - x\n')),
  pair('NDJSON key lost', 'breaking', text('{"a":1,"b":2}\n{"a":2,"b":3}'), text('{"a":1}\n{"a":2}')),
  pair(
    'one item has an extra key',
    'change',
    data({ r: [{ a: 1 }, { a: 2 }] }),
    data({ r: [{ a: 1 }, { a: 2, b: 1 }] }),
  ),
  pair(
    'one item lost an optional key',
    'change',
    data({ r: [{ a: 1, b: 1 }, { a: 2 }] }),
    data({ r: [{ a: 1 }, { a: 2 }] }),
  ),
  pair('big integers', 'change', text('{"n":12345678901234567890}'), text('{"n":12345678901234567891}')),
  pair('unicode normal form', 'change', text('caf\u00e9'), text('cafe\u0301')),
  pair(
    'deep type',
    'breaking',
    data({ a: { b: [{ c: [{ d: 1 }] }] } }),
    data({ a: { b: [{ c: [{ d: '1' }] }] } }),
  ),
  pair('case of keys', 'breaking', data({ Name: 'a' }), data({ name: 'a' })),
  pair(
    'fenced JSON key lost',
    'breaking',
    text('Result:\n```json\n{"a":1,"b":2}\n```'),
    text('Result:\n```json\n{"a":1}\n```'),
  ),
  pair('prefixed JSON value changed', 'change', text('Found: {"a":1}'), text('Found: {"a":2}')),
  [
    'a call more',
    'change',
    [['a', { x: 1 }, text('1')]],
    [
      ['a', { x: 1 }, text('1')],
      ['a', { x: 2 }, text('2')],
    ],
  ],
  [
    'a call less',
    'breaking',
    [
      ['a', { x: 1 }, text('1')],
      ['a', { x: 2 }, text('2')],
    ],
    [['a', { x: 1 }, text('1')]],
  ],
  [
    'order of calls',
    'same',
    [
      ['a', { x: 1 }, text('1')],
      ['b', { x: 2 }, text('2')],
    ],
    [
      ['b', { x: 2 }, text('2')],
      ['a', { x: 1 }, text('1')],
    ],
  ],
  [
    'argument changed',
    'change',
    [['a', { q: 'red shoes', n: 5 }, text('1')]],
    [['a', { q: 'red shoes', n: 6 }, text('1')]],
  ],
  [
    'same calls repeated, other answers',
    'change',
    [
      ['next', {}, text('1')],
      ['next', {}, text('2')],
      ['next', {}, text('3')],
    ],
    [
      ['next', {}, text('1')],
      ['next', {}, text('2')],
      ['next', {}, text('4')],
    ],
  ],
  [
    'one of three fails now',
    'breaking',
    [
      ['a', { i: 1 }, text('1')],
      ['a', { i: 2 }, text('2')],
      ['a', { i: 3 }, text('3')],
    ],
    [
      ['a', { i: 1 }, text('1')],
      ['a', { i: 2 }, failed('x')],
      ['a', { i: 3 }, text('3')],
    ],
  ],
  [
    'carried id',
    'same',
    [
      ['create', { n: 'a' }, data({ id: 'ord_8fJk2Lm0Qz' })],
      ['get', { id: 'ord_8fJk2Lm0Qz' }, data({ id: 'ord_8fJk2Lm0Qz', n: 'a' })],
    ],
    [
      ['create', { n: 'a' }, data({ id: 'ord_Zx91PqRt7B' })],
      ['get', { id: 'ord_Zx91PqRt7B' }, data({ id: 'ord_Zx91PqRt7B', n: 'a' })],
    ],
  ],
  [
    'carried id and a lost field',
    'breaking',
    [
      ['create', { n: 'a' }, data({ id: 'ord_8fJk2Lm0Qz' })],
      ['get', { id: 'ord_8fJk2Lm0Qz' }, data({ id: 'ord_8fJk2Lm0Qz', n: 'a' })],
    ],
    [
      ['create', { n: 'a' }, data({ id: 'ord_Zx91PqRt7B' })],
      ['get', { id: 'ord_Zx91PqRt7B' }, data({ id: 'ord_Zx91PqRt7B' })],
    ],
  ],
  pair(
    'embedded resource text changed',
    'change',
    { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'x y' } }] },
    { content: [{ type: 'resource', resource: { uri: 'a:b', text: 'x z' } }] },
  ),
  pair('_meta only', 'change', { ...text('a'), _meta: { v: 1 } }, { ...text('a'), _meta: { v: 2 } }),
  pair(
    'YAML text loses a key',
    'change',
    text('name: alpha\nstatus: ready\nreplicas: 3\n'),
    text('name: alpha\nstatus: ready\n'),
  ),
  pair(
    'YAML text gets a key',
    'change',
    text('name: alpha\nstatus: ready\n'),
    text('name: alpha\nstatus: ready\nage: 3\n'),
  ),
  pair(
    'key: value lines in another order',
    'change',
    text('host: a\nport: 1\nuser: x\n'),
    text('host: a\nuser: x\nport: 1\n'),
  ),
  pair('CSV gets a row', 'change', text('id,name\n1,ann\n2,bob\n'), text('id,name\n1,ann\n2,bob\n3,cid\n')),
  pair(
    'Markdown table row changed',
    'change',
    text('| id | n |\n|---|---|\n| 1 | 2 |\n'),
    text('| id | n |\n|---|---|\n| 1 | 3 |\n'),
  ),
  pair(
    'two text blocks become one',
    'change',
    {
      content: [
        { type: 'text', text: '{"a":1}' },
        { type: 'text', text: '{"b":2}' },
      ],
    },
    { content: [{ type: 'text', text: '{"a":1}' }] },
  ),
  pair(
    'a text block more',
    'change',
    { content: [{ type: 'text', text: 'ok' }] },
    {
      content: [
        { type: 'text', text: 'ok' },
        { type: 'text', text: 'hint: try more' },
      ],
    },
  ),
  pair('image instead of text', 'breaking', text('chart'), image('iVBORw0KGgo=')),
  pair('image with other bytes', 'change', image('iVBORw0KGgo='), image('iVBORw0KGgp=')),
  pair('image with another MIME type', 'change', image('iVBORw0KGgo='), image('iVBORw0KGgo=', 'image/jpeg')),
  pair('structuredContent appears beside the text', 'change', text({ a: 1 }), {
    ...text({ a: 1 }),
    structuredContent: { a: 1 },
  }),
  pair(
    'structuredContent disappears',
    'breaking',
    { ...text({ a: 1 }), structuredContent: { a: 1 } },
    text({ a: 1 }),
  ),
  pair('isError false is written out', 'same', data({ a: 1 }), { ...data({ a: 1 }), isError: false }),
  pair(
    'JSON text becomes prose',
    'breaking',
    text({ total: 3, items: [1, 2, 3] }),
    text('Found 3 items: 1, 2, 3'),
  ),
  pair('object wrapped in result', 'breaking', data({ a: 1, b: 2 }), data({ result: { a: 1, b: 2 } })),
  pair(
    'object with dynamic keys loses one key',
    'breaking',
    data({ byUser: { ann: { n: 1 }, bob: { n: 2 } } }),
    data({ byUser: { ann: { n: 1 } } }),
  ),
  pair('integer becomes float', 'change', data({ n: 3 }), data({ n: 3.5 })),
  pair('null becomes object', 'breaking', data({ owner: null }), data({ owner: { id: 7 } })),
  pair('empty object loses nothing', 'same', data({ meta: {} }), data({ meta: {} })),
  pair('boolean flips', 'change', data({ active: true }), data({ active: false })),
  pair('error becomes success', 'change', failed('quota'), text('done')),
  pair('tool error becomes protocol error', 'breaking', failed('not found'), rpc(-32602, 'not found')),
  pair('protocol error becomes tool error', 'change', rpc(-32602, 'not found'), failed('not found')),
  pair(
    'error data loses a field',
    'change',
    rpc(-32000, 'limit', { data: undefined }),
    rpc(-32000, 'limit reached'),
  ),
  pair('error message of a tool reworded', 'change', failed('File not found'), failed('No such file')),
  pair(
    'JSON error text loses its code',
    'breaking',
    failed({ code: 'E1', message: 'x' }),
    failed({ message: 'x' }),
  ),
  pair(
    'item of a list loses a field that others never had',
    'change',
    data({ rows: [{ id: 1, n: 1 }, { id: 2 }] }),
    data({ rows: [{ id: 1 }, { id: 2 }] }),
  ),
  pair(
    'list of texts becomes list of objects',
    'breaking',
    data({ tags: ['a', 'b'] }),
    data({ tags: [{ name: 'a' }, { name: 'b' }] }),
  ),
  pair('list sorted the other way', 'change', data({ ids: [1, 2, 3] }), data({ ids: [3, 2, 1] })),
  pair(
    'same set of objects in another order, one changed type',
    'breaking',
    data({
      rows: [
        { id: 1, v: 'x' },
        { id: 2, v: 'y' },
      ],
    }),
    data({
      rows: [
        { id: 2, v: 'y' },
        { id: 1, v: 5 },
      ],
    }),
  ),
  pair(
    'nested JSON in JSON text loses a field',
    'breaking',
    text({ body: JSON.stringify({ a: 1, b: 2 }) }),
    text({ body: JSON.stringify({ a: 1 }) }),
  ),
  pair(
    '_meta only',
    'change',
    { ...data({ a: 1 }), _meta: { v: 1 } },
    { ...data({ a: 1 }), _meta: { v: 2 } },
  ),
  sessions(
    'arguments in another order',
    'same',
    [['s', { a: 1, b: 2 }, data({ n: 1 })]],
    [['s', { b: 2, a: 1 }, data({ n: 1 })]],
  ),
  sessions(
    'argument got a default',
    'change',
    [['s', { q: 'tea' }, data({ n: 1 })]],
    [['s', { q: 'tea', limit: 10 }, data({ n: 1 })]],
  ),
  sessions(
    'the same tool fails only for one argument now',
    'breaking',
    [
      ['s', { q: 'a' }, data({ n: 1 })],
      ['s', { q: 'b' }, data({ n: 2 })],
    ],
    [
      ['s', { q: 'a' }, data({ n: 1 })],
      ['s', { q: 'b' }, failed('boom')],
    ],
  ),
  sessions(
    'two calls swapped with equal arguments but other answers',
    'change',
    [
      ['next', {}, data({ n: 1 })],
      ['next', {}, data({ n: 2 })],
    ],
    [
      ['next', {}, data({ n: 2 })],
      ['next', {}, data({ n: 1 })],
    ],
  ),
  sessions(
    'carried id of a list item',
    'same',
    [
      ['list', {}, data({ rows: [{ id: 'r-81f2c9', n: 1 }] })],
      ['get', { id: 'r-81f2c9' }, data({ n: 1 })],
    ],
    [
      ['list', {}, data({ rows: [{ id: 'r-77aa01', n: 1 }] })],
      ['get', { id: 'r-77aa01' }, data({ n: 1 })],
    ],
  ),
  sessions(
    'carried cursor, and the page is gone',
    'breaking',
    [
      ['list', {}, data({ rows: [1], next: 'c_9f8e7d6c5b' })],
      ['list', { cursor: 'c_9f8e7d6c5b' }, data({ rows: [2] })],
    ],
    [
      ['list', {}, data({ rows: [1], next: 'c_1a2b3c4d5e' })],
      ['list', { cursor: 'c_1a2b3c4d5e' }, failed('bad cursor')],
    ],
  ),
]
