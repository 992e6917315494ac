import { expect, test } from 'vitest'
import { liveServer, type Reply } from '../../../test/support/live-server.ts'
import { call, HANDSHAKE, server, tapeOf, type Said } from '../../../test/support/tape-of.ts'
import type { ReplayOptions, ReplayTarget } from '../options.ts'
import { replay } from '../replay.ts'
import type { StepFinding } from '../steps/step.ts'

const CHANGED = { method: 'notifications/tools/list_changed' }
const tape = tapeOf(
  ...HANDSHAKE,
  ...call(1, 'search', {}, 'one'),
  ...call(2, 'count', {}, 'one'),
  server(CHANGED),
)
const LOST: StepFinding = {
  layer: 'notifications',
  level: 'error',
  message: 'notifications/tools/list_changed is missing',
  path: 'connection.frame-8',
  expected: CHANGED,
}

test('a notification after the last request that no longer comes is an error', async () => {
  const { summary, steps } = await played(() => {})
  expect(steps.map(({ findings }) => findings)).toMatchObject([[], [], [], [LOST]])
  expect(summary).toMatchObject({ verdict: 'fail', sent: 2 })
})

test('without validation a missing notification is not reported', async () => {
  const lax = await played(() => {}, { validate: false })
  expect(lax.steps.at(-1)?.findings).toEqual([])
})

test('it may come before the answer, and a moment after it', async () => {
  const before = await played((say) => say(CHANGED))
  const after = await played((say) => void setTimeout(() => say(CHANGED), 20))
  expect([before, after].map(({ steps }) => steps.at(-1)?.findings)).toEqual([[], []])
})

test('what a message had brought about that is left out, or made to fail, is not waited for', async () => {
  const { steps } = await played(() => {}, { exclude: ['tools/call:count'] })
  expect(steps.flatMap(({ findings }) => findings)).toEqual([])
  const injection = { probability: 1, errors: ['timeout'] } as const
  const injected = await played(() => {}, { injection })
  expect(injected.steps.at(-1)?.findings).toMatchObject([{ layer: 'transport' }])
})

test('a run that is interrupted meanwhile does not wait for it, and does not miss it', async () => {
  const stop = new AbortController()
  const { steps } = await played(() => void setImmediate(() => stop.abort()), { signal: stop.signal })
  expect(steps.at(-1)).toMatchObject({ state: 'done', findings: [] })
})

test('a failed step at which the run pauses is reported at once, although notifications may still follow it', async () => {
  const two = tapeOf(
    ...on(1, [...HANDSHAKE, ...call(1, 'search', {}, 'something else'), server(CHANGED)]),
    ...on(2, [...HANDSHAKE, ...call(1, 'count', {}, 'one')]),
  )
  const run = replay(two, { target: answering(() => {}), onError: 'pause' })
  const told: string[] = []
  for await (const { tool, findings } of run) {
    if (tool !== undefined) told.push(tool)
    if (findings.length > 0) run.controller.resume()
  }
  expect(told).toEqual(['search', 'count'])
})

function on(conn: number, said: readonly Said[]): readonly Said[] {
  return said.map((one) => ({ ...one, conn }))
}

type Say = (word: object) => void

function played(
  onCount: (say: Say) => void,
  options: Partial<ReplayOptions> = {},
): ReturnType<typeof report> {
  return report({ target: answering(onCount), ...options })
}

function report(options: ReplayOptions): ReturnType<typeof replay>['report'] {
  return replay(tape, options).report
}

/** A server that says something of its own when it is asked to count. */
function answering(onCount: (say: Say) => void): ReplayTarget {
  const { target } = liveServer((): Reply => ({ result: { content: [{ type: 'text', text: 'one' }] } }))
  return {
    ...target,
    open: async (handlers) => {
      const link = await target.open(handlers)
      const say: Say = (word) => handlers.onText(JSON.stringify({ jsonrpc: '2.0', ...word }))
      const send = (text: string): void => {
        if (text.includes('"count"')) onCount(say)
        link.send(text)
      }
      return { ...link, send }
    },
  }
}
