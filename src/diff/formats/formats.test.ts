import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatPath, parsePath } from '../../json/path.ts'
import { createDiffer, type DiffOptions } from '../diff.ts'
import { TEXT_FORMATS, parseText } from './index.ts'
import { proseTokens } from './prose.ts'

function differences(expected: string, actual: string, options?: DiffOptions): readonly string[] {
  return createDiffer(options)
    .values({ text: expected }, { text: actual })
    .map(({ path, kind, expected: one, actual: other }) =>
      [kind, formatPath(path), JSON.stringify(one), JSON.stringify(other)].join(' '),
    )
}

test.each([
  ['JSON', '{"a":{"b":10}}', '{"a":{"b":11}}', 'text.a.b'],
  ['JSON lines', '{"a":1}\n{"b":10}\n', '{"a":1}\n{"b":11}\n', 'text[1].b'],
  ['XML', '<r><id>7</id><price>10</price></r>', '<r><id>7</id><price>11</price></r>', 'text.r[0].price[0]'],
  ['an attribute', '<r><a n="10"/><b/></r>', '<r><a n="11"/><b/></r>', 'text.r[0].a[0].@n'],
  [
    'HTML',
    '<html><body><p>10<p>x<br></html>',
    '<html><body><p>11<p>x<br></html>',
    'text.html[0].body[0].p[0]',
  ],
  ['CSV', 'id,price\n1,10\n2,"a,b"\n', 'id,price\n1,11\n2,"a,b"\n', 'text.rows[0].price'],
  ['TSV', 'id\tprice\n1\t10', 'id\tprice\n1\t11', 'text.rows[0].price'],
  [
    'a Markdown table',
    '# T\n\n| id | price |\n|---|:-:|\n| 1 | 10 |\n\nend',
    '# T\n\n| id | price |\n|---|:-:|\n| 1 | 11 |\n\nend',
    'text.tables[0].rows[0].price',
  ],
  ['JSON after a word', 'Result: {"a":1,"n":10}', 'Result: {"a":1,"n":11}', 'text.json[0].n'],
  [
    'a fenced block',
    'Two:\n```json\n[{"n":1},{"n":10}]\n```\nend {x}',
    'Two:\n```json\n[\n  {"n":1},\n  {"n":11}\n]\n```\nend {x}',
    'text.json[0][1].n',
  ],
  ['the text around JSON', 'Found 10: {"a":1}', 'Found 11: {"a":1}', 'text.text'],
  ['a URL', 'https://h/a/b?n=10&x=1', 'https://h/a/b?n=11&x=1', 'text.query.n'],
])('in %s, a changed value is named, and can be ignored', (_, expected, actual, path) => {
  const found = createDiffer().values({ text: expected }, { text: actual })
  expect(found.map((one) => formatPath(one.path))).toEqual([path])
  expect(differences(expected, actual, { ignore: [parsePath(path)] })).toEqual([])
})

test('a text that loses its format is a difference of its own', () => {
  expect(lost('{"a":1}', '{"a":1')).toEqual([['format', 'JSON']])
  expect(lost('{"a":1}\n{"b":1}', '{"a":1}\n{"b":')).toEqual([['format', 'JSON lines']])
  expect(lost('<r><a>1</a></r>', '<r><a>1</r>')).toEqual([['format', 'XML or HTML']])
  expect(lost('a,b\n1,2', 'an error')).toEqual([['format', 'CSV']])
  expect(lost('https://h/x', 'h x')).toEqual([['format', 'a URL']])
})

test('one JSON line is compared with several line by line', () => {
  const found = createDiffer().values('{"a":1}', '{"a":2}\n{"a":3}')
  expect(found.map(({ kind, path }) => [kind, formatPath(path)])).toEqual([
    ['changed', '[0].a'],
    ['added', '[1]'],
  ])
  expect(lost('{\n"a":1}', '{"a":2}\n{"a":3}')).toEqual([['format', 'JSON']])
})

test('another order of XML elements and another layout are differences', () => {
  expect(differences('<r><a>1</a><b>2</b></r>', '<r><b>2</b><a>1</a></r>', { order: 'kept' })).not.toEqual([])
  expect(differences('<r><a>1</a></r>', '<r>\n<a>1</a></r>')).toHaveLength(1)
  expect(differences('https://h/?a=1&b=2', 'https://h/?b=2&a=1')).toHaveLength(1)
})

test('a row with a missing cell and a missing row are named', () => {
  expect(differences('id,n\n1,2\n3,4', 'id,n\n1,2\n3')).toEqual(['removed text.rows[1].n "4" '])
  expect(differences('id,n\n1,2\n3,4', 'id,n\n1,2')).toEqual(['removed text.rows[1] {"id":"3","n":"4"} '])
})

test('the changed parts of prose are named with their line', () => {
  const [found] = createDiffer().values(
    'Order 7:\n  price 10.50 EUR (net), by ada\ndone',
    'Order 7:\n  price 12.50 EUR (net), by ada\ndone',
  )
  expect(found).toMatchObject({
    kind: 'changed',
    path: [],
    parts: [{ line: 2, expected: 'price 10.50 EUR', actual: 'price 12.50 EUR' }],
  })
})

test.each([
  ['price:10.50,(net)', ['price', ':', '10.50', ',', '(', 'net', ')']],
  ['<b>run-8f3a</b>', ['<', 'b', '>', 'run-8f3a', '<', '/', 'b', '>']],
  ['at 2026-11-16T20:00:01.5Z in 12ms', ['at', ' ', '2026-11-16T20:00:01.5Z', ' ', 'in', ' ', '12', 'ms']],
  ['a=0b0e7a52-1c1f-4b6e-9f55-0a3c1c2d3e4f;', ['a', '=', '0b0e7a52-1c1f-4b6e-9f55-0a3c1c2d3e4f', ';']],
  ['one\ntwo', ['one', '\n', 'two']],
])('%j is cut into its tokens', (text, tokens) => {
  expect(proseTokens(text)).toEqual(tokens)
})

test('tokens contain the whole text, and no text makes a format throw', () => {
  const pieces = fc.constantFrom(
    '<a>',
    '</a>',
    '<a b="',
    '{"a":',
    '}',
    '|',
    '|--|',
    '\n',
    ',',
    '"',
    '\t',
    'x',
    '1.5',
    '://',
    '&#',
    'é',
    '\ud83d',
    '\u202f',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map((all) => all.join('')),
      ),
      (text) => {
        expect(proseTokens(text).join('')).toBe(text)
        for (const format of TEXT_FORMATS) {
          format.parse(text)
          format.parseLenient?.(text)
        }
      },
    ),
  )
})

test('hostile texts take linear time', () => {
  for (const piece of [
    '<a>',
    '<a ',
    '<![CDATA[',
    '<!--',
    '{"a":',
    '1.',
    '1-',
    '|',
    '|-',
    '"',
    ',',
    '> ',
    'a=',
    '\n|-|\n',
  ]) {
    const text = piece.repeat(100_000)
    expect(proseTokens(text).length).toBeGreaterThan(0)
    for (const start of ['', '<a>', 'a|b\n', '{', 'https://'])
      expect(() => parseText(`${start}${text}`)).not.toThrow()
  }
})

function lost(expected: string, actual: string): unknown {
  return createDiffer()
    .values([expected], [actual])
    .map(({ kind, format }) => [kind, format?.name])
}

const word = fc.stringMatching(/^[a-z]{1,8}$/)
const leaf = fc.oneof(word, fc.uuid(), fc.nat().map(String))
const rows = fc.array(fc.tuple(leaf, leaf, leaf), { minLength: 2, maxLength: 6 })
type Rows = readonly (readonly string[])[]

const WRITERS: Readonly<Record<string, (rows: Rows) => string>> = {
  JSON: (all) => JSON.stringify(all.map(([a, b, c]) => ({ a, b, c }))),
  'JSON lines': (all) => all.map(([a, b, c]) => JSON.stringify({ a, b, c })).join('\n'),
  XML: (all) => `<r>${all.map(([a, b, c]) => `<i a="${a}"><b>${b}</b><c>${c}</c></i>`).join('')}</r>`,
  CSV: (all) => ['a,b,c', ...all.map((cells) => cells.join(','))].join('\n'),
  TSV: (all) => ['a\tb\tc', ...all.map((cells) => cells.join('\t'))].join('\n'),
  'base64 of a text': (all) => btoa(all.map((cells) => `The list has ${cells.join(' and ')}.`).join('\n')),
  'a Markdown table': (all) =>
    ['|a|b|c|', '|-|-|-|', ...all.map((cells) => `|${cells.join('|')}|`)].join('\n'),
  'a URL': (all) =>
    `https://host/${all.map(([a]) => a).join('/')}?${all.map(([, b, c], n) => `b${n}=${b}&c${n}=${c}`).join('&')}`,
  prose: (all) => all.map(([a, b, c]) => `The ${a} of (${b}) is ${c}.`).join('\n'),
}

test.each([
  ['AGFuIGltYWdlIG9yIGEga2V5', 'has unreadable characters'],
  ['shortwords', 'is too short'],
  ['9f86d081884c7d659a2feaa0c55ad015', 'is a digest'],
  ['abcdefghijklmnopqrstuvwxyz', 'is a word'],
])('%s is no base64 of a text, because it %s', (encoded) => {
  expect(parseText(encoded)).toBeUndefined()
})

function encodedPage(offset: number): string {
  return btoa(JSON.stringify({ offset, order: '???>' }))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

test('a member of JSON that is encoded as base64url is compared', () => {
  const differ = createDiffer({ order: 'kept' })
  expect(differ.values({ cursor: encodedPage(40) }, { cursor: encodedPage(60) })).toMatchObject([
    { path: ['cursor', 'decoded', 'offset'], expected: 40, actual: 60 },
  ])
})

test.each(Object.entries(WRITERS))('in %s, a single changed leaf is always found and named', (_, write) => {
  fc.assert(
    fc.property(rows, fc.nat(), fc.nat(2), (all, at, column) => {
      const changed = all.map((cells, row) =>
        row === at % all.length ? cells.map((cell, n) => (n === column ? `${cell}9` : cell)) : cells,
      )
      const differ = createDiffer({ order: 'kept' })
      expect(differ.values([write(all)], [write(all)])).toEqual([])
      const found = differ.values([write(all)], [write(changed)])
      const [from, to] = [all, changed].map((side) => side[at % all.length]?.[column])
      expect(JSON.stringify(found)).toContain(String(to))
      expect(JSON.stringify(found)).toContain(String(from))
    }),
  )
})
