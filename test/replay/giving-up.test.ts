import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { ReplayTarget } from '../../src/replay/options.ts'
import { replayRepeatedly } from '../../src/replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import { commandTarget, urlTarget } from '../../src/replay/targets.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { META_KEYS } from '../../src/protocol/message.ts'
import { outcomeOf } from '../interop/account.ts'
import { referenceServer } from '../interop/reference-server.ts'
import { recorded, run } from '../interop/run.ts'
import { ask, open, post, startRecorder } from '../support/http.ts'
import { listening } from '../support/http-servers.ts'
import { fixtureServer, temporaryFolder } from '../support/recorder.ts'
import { callTool } from '../support/sdk.ts'
import { foundIn } from '../support/against-tape.ts'

vi.setConfig({ testTimeout: 60_000 })

test('a call that was given up over pipes is given up again, after the progress that had come', async () => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const server = referenceServer('server-everything', 'stdio')
  const answers = { root: 'file:///nowhere', elicited: {} }
  await run({ sdk: 'v1', answers, command: recorded(tape, server) }, async ({ client, hears }) => {
    await hears('Roots updated') // it asks for the roots by a timer, which would race with the progress
    const patience = new AbortController()
    const options = { onprogress: () => patience.abort('too slow'), signal: patience.signal }
    const slow = await outcomeOf(callTool(client, 'trigger-long-running-operation', ENDLESS, options))
    return {
      steady: [slow, await callTool(client, 'echo', { message: 'hi' })],
      fresh: undefined,
      progress: [],
    }
  })
  const report = await verified(tape, commandTarget(server as [string, ...string[]]))
  expect(foundIn(report)).toEqual([])
  expect(statesOf(report, 'notifications/cancelled')).toEqual(['done'])
})

test('a modern call whose stream was closed is given up by closing its stream, where it was', async () => {
  const recorder = await startRecorder(`${await listening(fixtureServer('slow-http'))}/mcp`)
  const meta = { [META_KEYS.protocolVersion]: '2026-07-28', [META_KEYS.clientCapabilities]: {} }
  const request = (id: number, method: string, params: object = {}): ReturnType<typeof post> =>
    post({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...meta, progressToken: id } } })
  await ask(recorder.url, request(1, 'server/discover'))
  const waiting = await open(recorder.url, request(2, 'tools/call', { name: 'wait', arguments: {} }))
  for await (const chunk of waiting) if (String(chunk).includes('"progress":2')) break
  waiting.destroy()
  const count = request(3, 'tools/call', { name: 'count', arguments: {} })
  expect((await ask(recorder.url, count)).body.toString()).toContain('1 given up')
  recorder.child.kill('SIGTERM')
  await recorder.exited
  const live = `${await listening(fixtureServer('slow-http'))}/mcp`
  const report = await verified(recorder.tape, urlTarget(live))
  expect(statesOf(report, 'notifications/cancelled')).toEqual(['done'])
  expect(foundIn({ steps: [...report.steps].slice(-1) })).toEqual([])
  expect((await ask(live, count)).body.toString()).toContain('1 given up')
})

/** It tells progress five times a second, and is never over before it is given up, however busy the machine is. */
const ENDLESS = { duration: 3600, steps: 18_000 }

function statesOf({ steps }: RepeatedReport, wanted: string): readonly string[] {
  return steps.filter(({ method }) => method === wanted).map(({ state }) => state)
}

async function verified(tape: string, target: ReplayTarget): Promise<RepeatedReport> {
  return replayRepeatedly(await loadTape(tape), { target, allowWrites: true }, { repeat: 1 })
}
