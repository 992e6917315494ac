import { describe, expect, test } from 'vitest'
import { ReelayError } from '../errors.ts'
import { mayHaveMember, parseFilter, type FilterSubject } from './filter.ts'

const params = { name: 'search', arguments: { city: 'Oslo', limit: 5, tags: ['a', 'b'], 'a.b': true } }
const result = { structuredContent: { total: 140, day: '2026-11-18' }, isError: false, content: [] }

const call: FilterSubject = {
  exchange: 38,
  frame: 80,
  server: 'travel',
  conn: 2,
  id: 7,
  kinds: ['request', 'response'],
  dirs: ['c2s'],
  methods: ['tools/call'],
  target: 'search',
  status: 'ok',
  durationMs: 620,
  texts: () => [JSON.stringify(params), '{"text":"Gr\\u00fc\\u00dfe \\"x\\""}'],
  value: (root) => ({ params, result, error: undefined })[root],
}

describe('terms that match', () => {
  test.each([
    '',
    'method:tools/call',
    'method:tools/*',
    'tool:search',
    'tool:find,search',
    'target:sea*',
    'server:tra*',
    'status:ok',
    'status:error,ok',
    'dir:c2s',
    'kind:response',
    'duration:>500ms',
    'duration:>=620ms',
    'duration:<1s',
    'duration:500ms..1s',
    'size:>10',
    'size:1b..1kb',
    'conn:2',
    'frame:80',
    'n:70-90',
    'id:7',
    '#38',
    '#30-40',
    'oslo',
    '"Oslo"',
    'Grüße',
    '"\\"x\\""',
    'TOOLS/CALL',
    're:/"limit":[0-9]+/',
    're:/OSLO/i',
    'params.arguments.city = Oslo',
    'params.arguments.city="Oslo"',
    'params.arguments.city == "Oslo"',
    'params.arguments.city != "Bergen"',
    'params.arguments.city ~ slo',
    'params.arguments.city ~ /^O.*o$/',
    'params.arguments.limit>4',
    'params.arguments.limit <= 5',
    'params.arguments["a.b"]',
    'params.arguments.tags[*] = b',
    'params.arguments.tags[0] = "a"',
    'params.arguments.tags = ["a","b"]',
    'result.structuredContent.total > 100',
    'result.structuredContent.day >= "2026-11-01"',
    'result.isError = false',
    'not status:error',
    '-status:error',
    'tool:find or tool:search',
    'tool:search (status:error or duration:>500ms)',
    '-(tool:find or status:error)',
    'tool:search and status:ok',
    'method:tools/call tool:search status:ok duration:>500ms dir:c2s oslo',
  ])('%s', (text) => expect(parseFilter(text).matches(call)).toBe(true))
})

describe('terms that do not match', () => {
  test.each([
    'method:tools/list',
    'method:tools',
    'tool:sea',
    'status:error',
    'status:pending',
    'dir:s2c',
    'kind:notification',
    'duration:>1s',
    'size:>10kb',
    'id:"7"',
    '#3',
    'frame:8',
    'bergen',
    're:/^Oslo/',
    'params.arguments.city = oslo',
    'params.arguments.missing',
    'params.arguments.missing != 3',
    'params.arguments.limit = "5"',
    'params.arguments.limit > "4"',
    'params.arguments.tags[*] = c',
    'params.constructor',
    'result.isError',
    'error.code = -32000',
    '-tool:search',
    'tool:search -oslo',
    'tool:find or status:error',
  ])('%s', (text) => expect(parseFilter(text).matches(call)).toBe(false))
})

test('a request without a response has no duration, no result and the status pending, or error if the server failed', () => {
  const { durationMs: _, ...open } = call
  const pending: FilterSubject = {
    ...open,
    status: 'unanswered',
    value: (root) => (root === 'params' ? params : undefined),
  }
  expect(parseFilter('duration:>0ms').matches(pending)).toBe(false)
  expect(parseFilter('result.structuredContent.total > 100').matches(pending)).toBe(false)
  expect(parseFilter('status:pending').matches(pending)).toBe(true)
  for (const status of ['http-error', 'lost'] as const) {
    expect(parseFilter('status:error').matches({ ...pending, status })).toBe(true)
    expect(parseFilter(`status:${status} -status:pending`).matches({ ...pending, status })).toBe(true)
  }
})

test('messages are not read if a cheaper term has decided already', () => {
  expect(parseFilter('oslo re:/x/ size:>1kb tool:find').matches({ ...call, texts: wasRead })).toBe(false)
})

function wasRead(): never {
  throw new Error('the texts were read')
}

test.each([
  ['methd:tools/call', 'there is no field "methd"; did you mean method?, at position 1'],
  ['tool:a stauts:error', 'there is no field "stauts"; did you mean status?, at position 8'],
  ['https://example.com', 'there is no field "https", at position 1'],
  ['status:bad', 'status: cannot be bad, at position 8'],
  ['status:', 'status: needs a value, at position 8'],
  ['duration:500ms', 'duration: cannot be 500ms, at position 10'],
  ['duration:>5x', 'duration: cannot be >5x, at position 10'],
  ['size:>big', 'size: cannot be >big, at position 6'],
  ['tool:a,', 'tool: cannot be a,, at position 6'],
  ['(tool:a', 'there is no ")" for this "(", at position 1'],
  ['tool:a)', 'there is no "(" for this ")", at position 7'],
  ['tool:a or', '"or" needs a term on both sides, at position 10'],
  ['or tool:a', '"or" needs a term on both sides, at position 3'],
  ['not', 'a term must follow the negation, at position 1'],
  ['tool=search', 'tool is a field, and a colon follows a field, at position 1'],
  ['tool:a duration>5s', 'duration is a field, and a colon follows a field, at position 8'],
  ['"open', 'this quote is not closed, at position 1'],
  ['params.a > ', 'a value must follow params.a >, at position 12'],
  ['params.a > true', '> compares numbers or texts, not true, at position 12'],
  ['params.a = "\\x"', '"\\x" is not a JSON string, at position 12'],
  ['re:abc', 're: needs a regular expression between slashes, at position 4'],
  ['re:/(/', 'this is not a valid regular expression, at position 4'],
  ['re:/a/g', 'a pattern can have the flags i, m and s, not "g", at position 4'],
  ['re:/(a+)+$/', 'this pattern can take very long: (a+)+ repeats a+, which repeats too'],
  ['('.repeat(80), 'it is nested deeper than 50, at position 52'],
])('%s is rejected with its position', (text, why) => {
  expect(() => parseFilter(text)).toThrow(ReelayError)
  expect(() => parseFilter(text)).toThrow(why)
})

test('a word that only looks like a field or a path is searched as text', () => {
  const subject = { ...call, texts: () => ['the result of errors in params, a-b #x - or'] }
  const words = ['result', 'errors', 'params', 'a-b', '#x', 'error', '"- or"']
  expect(words.filter((word) => !parseFilter(word).matches(subject))).toEqual([])
})

test('a condition does not read a value that certainly has no member with the name', () => {
  const read: string[] = []
  const json = String.raw`{"result":{"tot\u0061l":120,"a b":1}}`
  const subject = (text: string): FilterSubject => ({
    kinds: ['response'],
    dirs: ['s2c'],
    methods: [],
    texts: () => [text],
    value: (root) => (read.push(root), (JSON.parse(text) as { result: unknown }).result),
    mayHave: (_, name) => mayHaveMember(text, name),
  })
  const matches = (filter: string, text: string): boolean => parseFilter(filter).matches(subject(text))
  expect(matches('result.total > 100', '{"result":{"text":"none"}}')).toBe(false)
  expect(matches('not result.total > 100', '{"result":{"text":"none"}}')).toBe(true)
  expect(read).toEqual([])
  expect(matches('result.total > 100', json)).toBe(true)
  expect(matches('result.items[0].total > 100', '{"result":{"items":[{"total":101}]}}')).toBe(true)
  expect(matches('result["a\\"b"] > 0', String.raw`{"result":{"a\"b":1}}`)).toBe(true)
})
