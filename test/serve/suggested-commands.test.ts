import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { serveCommandLine } from '../../src/serve/serve-options.ts'

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
