import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatPath } from '../json/path.ts'
import { COMPARISON_KINDS } from './comparisons/index.ts'
import { formatMatchRule, isRuleInScope, parseMatchRule } from './rules.ts'

test.each([
  ['params.arguments.date relative-date', {}, 'params.arguments.date', 'relative-date'],
  ['tools/call params.arguments.date any', { method: 'tools/call' }, 'params.arguments.date', 'any'],
  [
    'tools/call search params.arguments["a b"].items[*].id regex ^a b$',
    { method: 'tools/call', tool: 'search' },
    'params.arguments["a b"].items[*].id',
    'regex ^a b$',
  ],
  [
    'server=git tools/call log params.arguments.n number within 10%',
    { server: 'git', method: 'tools/call', tool: 'log' },
    'params.arguments.n',
    'number within 10%',
  ],
  ['server=git params ignore', { server: 'git' }, 'params', 'ignore'],
])('%s', (text, scope, path, comparison) => {
  const { path: read, comparison: how, ...rest } = parseMatchRule(text)
  expect([rest, formatPath(read), how.text]).toEqual([scope, path, comparison])
})

test('a formatted rule is parsed to the same rule', () => {
  const word = fc.stringMatching(/^[a-z_]{1,8}$/)
  const name = fc.oneof(
    word,
    fc.string({ minLength: 1 }).map((text) => `a${text}`),
  )
  const kind = fc.constantFrom(
    ...COMPARISON_KINDS.map(({ usage }) => usage).filter((usage) => !/[<[]/.test(usage)),
    'regex ^a params.b any$',
    'relative-date within 2h',
  )
  fc.assert(
    fc.property(
      fc.option(word),
      word,
      fc.array(fc.oneof(name, fc.nat(9))),
      kind,
      (server, tool, path, as) => {
        const scope = server === null ? '' : `server=${server} `
        const text = `${scope}tools/call ${tool} ${formatPath(['params', ...path])} ${as}`
        expect(formatMatchRule(parseMatchRule(text))).toBe(text)
      },
    ),
  )
})

test('a rule applies to the requests in its scope, and without a scope to all', () => {
  const request = { server: 'git', method: 'tools/call', params: { name: 'log' } }
  const fits = (text: string): boolean => isRuleInScope(parseMatchRule(`${text} params.x any`), request)
  expect(['', 'server=git', 'tools/call', 'tools/call log', 'server=git tools/call log'].map(fits)).toEqual([
    true,
    true,
    true,
    true,
    true,
  ])
  expect(['server=files', 'prompts/get', 'tools/call diff'].map(fits)).toEqual([false, false, false])
})

test.each([
  ['relative-date', 'RULE_INVALID'],
  ['params.arguments.date', 'RULE_INVALID'],
  ['arguments.date any', 'RULE_INVALID'],
  ['prompts/get hello params.arguments.x any', 'RULE_INVALID'],
  ['params..x any', 'RULE_INVALID'],
  ['params.requestState any', 'PATH_INVALID'],
  ['params.inputResponses.confirm.action ignore', 'PATH_INVALID'],
])('%s is rejected with a hint', (text, code) => {
  expect(() => parseMatchRule(text)).toThrow(expect.objectContaining({ code, hint: expect.any(String) }))
})

test('a rule for a server or tool with any name is parsed to the same rule after formatting', () => {
  const name = fc.oneof(
    fc.string({ minLength: 1 }),
    fc.constantFrom('a b', '"', 'params.x', 'params', 'server=x', "m'k $(x)", 'ž\n\\"'),
  )
  fc.assert(
    fc.property(name, name, (server, tool) => {
      const { path, comparison } = parseMatchRule('params.a any')
      const rule = { server, method: 'tools/call', tool, path, comparison }
      expect(parseMatchRule(formatMatchRule(rule))).toMatchObject({ server, method: 'tools/call', tool })
    }),
  )
})
