import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRecording } from '../../src/record/recording.ts'
import { ended, type Ended } from '../auto/program.ts'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'

/** A tape with three servers, each asked one thing. */
async function threeServers(): Promise<string> {
  const tape = join(temporaryFolder(), 'three.tape.jsonl')
  const recording = createRecording({ tape })
  for (const server of ['github', 'gitlab', 'files']) {
    const link = recording.link({ server, info: { transport: 'in-process' } })
    link.message('c2s', { jsonrpc: '2.0', id: 1, method: 'ping' })
    link.message('s2c', { jsonrpc: '2.0', id: 1, result: {} })
    link.event('close')
  }
  await recording.close()
  return tape
}

const inspect = (...args: string[]): Promise<Ended> =>
  ended([process.execPath, REELAY, 'inspect', ...args], {})

test('only the servers that are asked for are shown, with their own frames counted', async () => {
  const tape = await threeServers()
  const { stdout } = await inspect(tape, '--json', '--server', 'git*')
  const shown = JSON.parse(stdout) as Record<string, { name: string; server: string }[]>
  expect(shown['servers']?.map(({ name }) => name)).toEqual(['github', 'gitlab'])
  expect(shown['exchanges']?.map(({ server }) => server)).toEqual(['github', 'gitlab'])
  expect(shown['tape']).toMatchObject({ frames: 8, ended: true })
  const text = (await inspect(tape, '--server', 'files')).stdout
  expect(text).toContain('files (in-process)')
  expect(text).not.toContain('git')
})

test('an exchange has the same number in every view of a tape', async () => {
  const tape = await threeServers()
  const numbers = async (...args: string[]): Promise<readonly unknown[]> => {
    const { exchanges } = JSON.parse((await inspect(tape, '--json', ...args)).stdout) as Record<
      string,
      object[]
    >
    return (exchanges ?? []).map((exchange) => Reflect.get(exchange, 'sequence'))
  }
  expect(await numbers()).toEqual([1, 2, 3])
  expect(await numbers('--server', 'files')).toEqual([3])
  expect((await inspect(tape, '--server', 'files')).stdout).toMatch(/^3 .* ping /m)
  const options = ['--server', 'files', '--dry-run']
  const planned = await ended([process.execPath, REELAY, 'verify', tape, ...options], {})
  expect(planned.stdout).toMatch(/^send +#3 +ping$/m)
})

test('a filter that no server fits is refused with the names that there are', async () => {
  const { code, stderr } = await inspect(await threeServers(), '--server', 'nobody')
  expect(code).toBe(2)
  expect(stderr).toContain('has no server "nobody"')
  expect(stderr).toContain('hint: choose with --server from: github, gitlab, files')
})

test('a server that joined the tape late is served by its name', async () => {
  const tape = await threeServers()
  const serve = start([process.execPath, REELAY, 'serve', tape, '--server', 'files'])
  serve.child.stdin.end('{"jsonrpc":"2.0","id":7,"method":"ping"}\n')
  expect((await serve.exited).code).toBe(0)
  expect(serve.stdout().toString()).toBe('{"jsonrpc":"2.0","id":7,"result":{}}\n')
})
