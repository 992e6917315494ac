import { expect, test } from 'vitest'
import { readMatchSettings, mergeMatchSettings } from './options.ts'

test('a settings file contains a strategy and rules, and may be empty', () => {
  const rules = ['tools/call search params.arguments.date relative-date']
  expect(readMatchSettings({ strategy: 'fuzzy', rules }, 'f')).toEqual({ match: 'subset', rules })
  expect([undefined, null, {}].map((value) => readMatchSettings(value, 'f'))).toEqual(
    Array.from({ length: 3 }, () => ({ rules: [] })),
  )
})

test('options have priority over the file beside the tape, and the file over the config', () => {
  expect(
    mergeMatchSettings(
      { rules: ['params.option any'] },
      { match: 'exact', rules: ['params.tape any'] },
      { match: 'method', rules: ['params.config any'] },
    ),
  ).toEqual({ match: 'exact', rules: ['params.option any', 'params.tape any', 'params.config any'] })
})

test.each([
  ['rules', 'SETTINGS_INVALID', 'it is not a mapping'],
  [{ rule: [] }, 'SETTINGS_INVALID', 'unknown key "rule"'],
  [{ rules: 'params.a any' }, 'SETTINGS_INVALID', '"rules" is not a list'],
  [{ rules: [{ path: 'params.a' }] }, 'SETTINGS_INVALID', 'rule 1 is not a string'],
  [{ rules: ['params.a any', 'params.b soon'] }, 'RULE_INVALID', 'my.match.yaml, rule 2: '],
  [{ strategy: 'closest' }, 'USAGE', 'my.match.yaml: unknown matching strategy "closest"'],
  [{ strategy: 7 }, 'SETTINGS_INVALID', '"strategy" is not a string'],
])('%j is rejected with %s, and the error names the file', (value, code, words) => {
  expect(() => readMatchSettings(value, 'my.match.yaml')).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(words) }),
  )
  expect(() => readMatchSettings(value, 'my.match.yaml')).toThrow('my.match.yaml')
})
