import { expect, test } from 'vitest'
import type { Tape } from '../../src/store/read.ts'
import { client, ENVELOPE, server, tapeOf } from '../serve/tape-of.ts'
import { against, foundIn } from './against-tape.ts'

interface Keys {
  readonly sure: string
  readonly where: string
  readonly state: string
}

/** A modern call that asks for two things at once, under names and with a state that the server makes up. */
function deployment({ sure, where, state }: Keys): Tape {
  const call = { name: 'deploy', arguments: { env: 'prod' }, _meta: ENVELOPE }
  return tapeOf(
    client({ id: 1, method: 'server/discover', params: { _meta: ENVELOPE } }),
    server({
      id: 1,
      result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    }),
    client({ id: 2, method: 'tools/call', params: call }),
    server({
      id: 2,
      result: {
        resultType: 'input_required',
        inputRequests: {
          [sure]: {
            method: 'elicitation/create',
            params: { message: 'Sure?', requestedSchema: { type: 'object' } },
          },
          [where]: { method: 'roots/list' },
        },
        requestState: state,
      },
    }),
    client({
      id: 3,
      method: 'tools/call',
      params: {
        ...call,
        inputResponses: { [sure]: { action: 'accept', content: { sure: true } }, [where]: { roots: [] } },
        requestState: state,
      },
    }),
    server({ id: 3, result: { resultType: 'complete', content: [{ type: 'text', text: 'Deployed.' }] } }),
  )
}

test('a round with several inputs goes out under the live names and with the live state', async () => {
  const recorded = deployment({ sure: 'sure-a1b2', where: 'where-c3d4', state: 'v1.k2j3h4g5f6d7' })
  const live = deployment({ sure: 'sure-z9y8', where: 'where-x7w6', state: 'v1.q1w2e3r4t5z6' })
  const report = await against(live, recorded)
  expect(foundIn(report)).toEqual([])
  expect(report.summary).toMatchObject({ verdict: 'pass', unbound: 0 })
  expect(report.steps.at(-1)?.sent).toMatch(/"sure-z9y8":.*"where-x7w6":.*"requestState":"v1.q1w2e3r4t5z6"/)
})
