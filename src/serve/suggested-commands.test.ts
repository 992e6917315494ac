import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { serveCommandLine } from './suggested-commands.ts'

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

test.skipIf(process.platform === 'win32')('a shell hands on what needs quotes as it is', () => {
  const odd = [`params.arguments["it's $HOME"]`, 'params.items[*].id', 'params["a\\"b"]']
  const command = serveCommandLine('my tape.jsonl', undefined, { rules: [], ignore: odd, permissive: false })
  const printed = execFileSync('sh', ['-c', command.replace('reelay', "printf '%s\\n'")], {
    encoding: 'utf8',
  })
  expect(printed.trimEnd().split('\n')).toEqual([
    'serve',
    'my tape.jsonl',
    ...odd.flatMap((path) => ['--ignore', path]),
  ])
})
