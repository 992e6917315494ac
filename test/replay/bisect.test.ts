import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'

vi.setConfig({ testTimeout: 120_000 })

const CLIENT = [
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
  '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  '{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"price://milk"}}',
]

/** A server whose price is in another file, as programs have modules. */
const SERVER = `import { createInterface } from 'node:readline'
import { price } from './price.mjs'
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (id === undefined) return
  const result = method === 'initialize'
    ? { protocolVersion: '2025-11-25', capabilities: { resources: {} }, serverInfo: { name: 'shop', version: '1' } }
    : { contents: [{ uri: 'price://milk', text: String(price()) }] }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
})
`

interface Repository {
  readonly folder: string
  readonly tape: string
  readonly git: (...args: readonly string[]) => string
  readonly bisect: (...args: readonly string[]) => Promise<{ code: number | null; out: string; err: string }>
}

/** Nine commits; the price is wrong from the sixth on, and the third does not start. */
async function repository(): Promise<Repository> {
  const folder = temporaryFolder()
  const server = join(folder, 'packages', 'shop')
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    }).trim()
  git('init', '--quiet')
  mkdirSync(server, { recursive: true })
  writeFileSync(join(server, 'server.mjs'), SERVER)
  for (let commit = 1; commit <= 9; commit++) {
    const price =
      commit === 3 ? 'syntax error' : `export const price = () => ${commit >= 6 ? '9.5' : '3.5'} // ${commit}`
    writeFileSync(join(server, 'price.mjs'), price)
    git('add', '.')
    git('commit', '--quiet', '-m', `change ${commit}`)
    git('tag', `c${commit}`)
    if (commit > 1) continue
    const tape = join(folder, '..', `${folder.split('/').at(-1)}.tape.jsonl`)
    const run = start(
      [process.execPath, REELAY, 'record', '-q', '-o', tape, '--', process.execPath, 'server.mjs'],
      { cwd: server },
    )
    run.child.stdin.end(`${CLIENT.join('\n')}\n`)
    await run.exited
  }
  const tape = join(folder, '..', `${folder.split('/').at(-1)}.tape.jsonl`)
  const bisect = async (...args: readonly string[]): ReturnType<Repository['bisect']> => {
    const run = start(
      [process.execPath, REELAY, 'bisect', tape, ...args, '--', process.execPath, 'server.mjs'],
      { cwd: server },
    )
    run.child.stdin.end()
    const { code } = await run.exited
    return { code, out: run.stdout().toString(), err: run.stderr() }
  }
  return { folder, tape, git, bisect }
}

test('the first revision with other responses is found, in a work tree of its own', async () => {
  const { git, folder, bisect } = await repository()
  writeFileSync(join(folder, 'packages/shop/price.mjs'), 'my unsaved work')
  const { code, out, err } = await bisect('HEAD~8', 'HEAD')
  expect(err).toBe('')
  expect(out.split('\n').at(-2)).toMatch(/^the first bad revision is [\da-f]+, by a on .*: change 6$/)
  expect(code).toBe(0)
  expect(git('status', '--short')).toBe('M packages/shop/price.mjs')
  expect(git('worktree', 'list').split('\n')).toHaveLength(1)
})

test('a revision that cannot be tried is skipped, and wrong ends are refused', async () => {
  const { bisect } = await repository()
  const skipping = await bisect('c2', 'c9', '--setup', 'test "$(git log -1 --format=%s)" != "change 5"')
  expect([
    skipping.code,
    skipping.out
      .split('\n')
      .filter((line) => line.startsWith('the first'))
      .join(),
  ]).toEqual([1, 'the first bad revision is among those that could not be tried:'])
  const ends = await bisect('c7', 'c9')
  expect([ends.code, ends.err]).toEqual([
    1,
    'reelay: NOT_REPRODUCED c7 is not good: its responses differ from the tape\n' +
      '  hint: reelay verify must pass for c7; -v shows what it found\n',
  ])
  const unknown = await bisect('c77', 'c9')
  expect([unknown.code, unknown.err.split('\n')[0]]).toEqual([
    2,
    'reelay: USAGE "c77" is not a revision of this repository',
  ])
})
