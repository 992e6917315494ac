import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { fixtureServer, temporaryFolder } from '../support/recorder.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { tapeTransport, type TapeTransportOptions } from '../../src/testing/tape-transport.ts'

let starts: number
beforeEach(() => {
  starts = 0
  vi.stubEnv('CI', '')
})
afterEach(() => vi.unstubAllEnvs())

test('once records when there is no tape, and then needs no server', async () => {
  const path = freshPath()
  expect(await ask(path, ['a'], { live })).toEqual(['live {"q":"a"}'])
  expect(await ask(path, ['a'], { live })).toEqual(['live {"q":"a"}'])
  expect(starts).toBe(1)
  await expect(ask(path, ['b'], { live, drift: 'ignore' })).rejects.toThrow('REPLAY MISS')
})

test('new episodes are learned, and then need no server', async () => {
  const path = freshPath()
  await ask(path, ['a'], { live })
  expect(await ask(path, ['a', 'b'], { live, mode: 'new-episodes' })).toEqual([
    'live {"q":"a"}',
    'live {"q":"b"}',
  ])
  expect(await ask(path, ['a', 'b'], { live, mode: 'none' })).toEqual(['live {"q":"a"}', 'live {"q":"b"}'])
  expect(starts).toBe(2)
})

test('all records anew, and leaves one whole tape', async () => {
  const path = freshPath()
  await ask(path, ['a'], { live })
  await ask(path, ['b'], { live, mode: 'all' })
  const { turns, ended, problems } = await loadTape(path)
  expect([ended, problems]).toEqual([true, []])
  expect(turns.map(({ trigger }) => trigger?.text).join()).not.toContain('"a"')
  expect(readdirSync(dirname(path))).toHaveLength(1)
})

test('all with a server that says nothing leaves the tape that was there, and nothing beside it', async () => {
  const path = freshPath()
  await ask(path, ['a'], { live })
  await expect(ask(path, ['a'], { live: leaving, mode: 'all' })).rejects.toThrow('Connection closed')
  await vi.waitFor(() => expect(readdirSync(dirname(path))).toHaveLength(1))
  expect(await ask(path, ['a'], { live, mode: 'none' })).toEqual(['live {"q":"a"}'])
})

test('in CI nothing goes live by itself', async () => {
  vi.stubEnv('CI', 'true')
  await expect(tapeTransport(freshPath(), { live })).rejects.toMatchObject({ code: 'TAPE_NOT_FOUND' })
  expect(starts).toBe(0)
})

function freshPath(): string {
  return join(temporaryFolder(), 'fresh.tape.jsonl')
}

function leaving(): StdioClientTransport {
  return new StdioClientTransport({ command: process.execPath, args: ['-e', '0'] })
}

function live(): StdioClientTransport {
  starts++
  const [command = '', ...args] = fixtureServer('ask-then-answer')
  return new StdioClientTransport({ command, args })
}

async function ask(
  path: string,
  questions: readonly string[],
  options: TapeTransportOptions,
): Promise<readonly unknown[]> {
  const client = new Client({ name: 'tester', version: '1' })
  await client.connect(await tapeTransport(path, options))
  const answers: unknown[] = []
  for (const q of questions) {
    const { content } = await client.callTool({ name: 'echo', arguments: { q } })
    answers.push(Array.isArray(content) ? content[0]?.text : content)
  }
  await client.close()
  return answers
}
