import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { temporaryFolder } from '../support/recorder.ts'
import { callTool, SDKS } from '../support/sdk.ts'
import type { SdkSession } from '../support/sdk-session.ts'
import { outcomeOf, type Results } from './account.ts'
import { referenceServer } from './reference-server.ts'
import { recorded, run, served } from './run.ts'

vi.setConfig({ testTimeout: 60_000 })

test.each(SDKS)(
  'a call that a client of SDK %s gives up is given up again when it is played',
  async (sdk) => {
    const tape = join(temporaryFolder(), 'session.tape.jsonl')
    const answers = { root: 'file:///nowhere', elicited: {} }
    const server = referenceServer('server-everything', 'stdio')
    const recording = await run({ sdk, answers, command: recorded(tape, server) }, givingUp)
    expect(await loadTape(tape)).toMatchObject({ ended: true, problems: [], strays: [] })
    const replay = await run({ sdk, answers, command: served(tape) }, givingUp)
    expect(replay.account.steady).toEqual(recording.account.steady)
    expect(replay).toMatchObject({ code: 0, signal: null, errors: [] })
    expect(replay.stderr).toMatch(/: \d+ requests answered, 0 misses, 0 left over\n$/)
  },
)

async function givingUp({ client, hears }: SdkSession): Promise<Results> {
  await hears('Roots updated')
  const progress: object[] = []
  const patience = new AbortController()
  const onprogress = (step: object): void => {
    progress.push(step)
    patience.abort('too slow')
  }
  const options = { onprogress, signal: patience.signal }
  const slow = outcomeOf(
    callTool(client, 'trigger-long-running-operation', { duration: 0.6, steps: 3 }, options),
  )
  const steady = [await slow, await callTool(client, 'echo', { message: 'still here' })]
  return { steady, fresh: undefined, progress }
}
