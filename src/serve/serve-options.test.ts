import { expect, test } from 'vitest'
import { serveCommandLine } from './serve-options.ts'

test('the command names the tape and the options that are on', () => {
  expect(serveCommandLine('demo', undefined, { rules: [], ignore: [], permissive: false })).toBe(
    'reelay serve demo',
  )
  expect(
    serveCommandLine('./a.tape.jsonl', 'git', {
      match: 'subset',
      rules: ['tools/call search params.arguments.at any'],
      ignore: ['params.a', 'params.b'],
      permissive: true,
    }),
  ).toBe(
    "reelay serve ./a.tape.jsonl --server git --match subset --ignore params.a --ignore params.b --rule 'tools/call search params.arguments.at any' --permissive",
  )
})
