import { expect, test } from 'vitest'
import type { RepeatedReport } from '../../src/replay/repeat/repeated-report.ts'
import type { Tape } from '../../src/store/file/read.ts'
import { client, ENVELOPE, server, tapeOf } from '../support/tape-of.ts'
import { against, foundIn } from '../support/against-tape.ts'

const SURE = {
  method: 'elicitation/create',
  params: { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
}
const WHY = { ...SURE, params: { ...SURE.params, message: 'Why?' } }
const ROOTS = { method: 'roots/list' }

const YES = { action: 'accept', content: { sure: true } }
const BECAUSE = { action: 'accept', content: { why: 'because' } }
const NO_ROOTS = { roots: [] }

/** What the server asks for, in its order, under its names, each with what the client answers. */
type Round = readonly (readonly [name: string, wish: object, answer: object])[]

/** A modern call that asks for several things at once, with a state that the server makes up. */
function deployment(round: Round, state: string): Tape {
  const call = { name: 'deploy', arguments: { env: 'prod' }, _meta: ENVELOPE }
  const inputRequests = Object.fromEntries(round.map(([name, wish]) => [name, wish]))
  const inputResponses = Object.fromEntries(round.map(([name, , answer]) => [name, answer]))
  return tapeOf(
    client({ id: 1, method: 'server/discover', params: { _meta: ENVELOPE } }),
    server({
      id: 1,
      result: { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    }),
    client({ id: 2, method: 'tools/call', params: call }),
    server({ id: 2, result: { resultType: 'input_required', inputRequests, requestState: state } }),
    client({ id: 3, method: 'tools/call', params: { ...call, inputResponses, requestState: state } }),
    server({ id: 3, result: { resultType: 'complete', content: [{ type: 'text', text: 'Deployed.' }] } }),
  )
}

const RECORDED = deployment(
  [
    ['sure-a1b2', SURE, YES],
    ['where-c3d4', ROOTS, NO_ROOTS],
  ],
  'v1.k2j3h4g5f6d7',
)

/** The session against a server that asks like this. */
function asking(round: Round, recorded: Tape = RECORDED): Promise<RepeatedReport> {
  return against(deployment(round, 'v1.q1w2e3r4t5z6'), recorded)
}

function sentIn({ steps }: RepeatedReport): unknown {
  const { inputResponses, requestState } = JSON.parse(steps.at(-1)?.sent ?? '{}').params
  return { inputResponses, requestState }
}

test('a round with several inputs goes out under the live names and with the live state', async () => {
  const report = await asking([
    ['sure-z9y8', SURE, YES],
    ['where-x7w6', ROOTS, NO_ROOTS],
  ])
  expect(foundIn(report)).toEqual([])
  expect(report.summary).toMatchObject({ verdict: 'pass', unbound: 0 })
  expect(sentIn(report)).toEqual({
    inputResponses: { 'sure-z9y8': YES, 'where-x7w6': NO_ROOTS },
    requestState: 'v1.q1w2e3r4t5z6',
  })
})

test('a server that asks for the same in another order gets each answer to its own question', async () => {
  const report = await asking([
    ['where-x7w6', ROOTS, NO_ROOTS],
    ['sure-z9y8', SURE, YES],
  ])
  expect(foundIn(report)).toEqual([])
  expect(sentIn(report)).toMatchObject({ inputResponses: { 'sure-z9y8': YES, 'where-x7w6': NO_ROOTS } })
})

test('names that have changed hands are no difference, and the answers follow their questions', async () => {
  const recorded = deployment(
    [
      ['input-1', SURE, YES],
      ['input-2', WHY, BECAUSE],
    ],
    'v1.k2j3h4g5f6d7',
  )
  const report = await asking(
    [
      ['input-1', WHY, BECAUSE],
      ['input-2', SURE, YES],
    ],
    recorded,
  )
  expect(foundIn(report)).toEqual([])
  expect(sentIn(report)).toMatchObject({ inputResponses: { 'input-1': BECAUSE, 'input-2': YES } })
})

test('what is no longer asked is told of, and its answer is not sent', async () => {
  const report = await asking([['where-x7w6', ROOTS, NO_ROOTS]])
  expect(foundIn(report)).toEqual([
    expect.stringContaining('deploy done values result.inputRequests.sure-a1b2 is missing'),
  ])
  expect(sentIn(report)).toMatchObject({ inputResponses: { 'where-x7w6': NO_ROOTS } })
})

test('what is asked beyond that is told of, and answered by policy', async () => {
  const declined = { action: 'decline' }
  const report = await asking([
    ['why-v5u4', WHY, declined],
    ['where-x7w6', ROOTS, NO_ROOTS],
    ['sure-z9y8', SURE, YES],
  ])
  expect(foundIn(report)).toEqual([
    expect.stringContaining('deploy done values result.inputRequests.why-v5u4 is new'),
  ])
  expect(report.notes).toEqual([
    'the server requests elicitation/create as "why-v5u4" in a round of input, which was not recorded: answered by policy',
  ])
  expect(sentIn(report)).toMatchObject({
    inputResponses: { 'sure-z9y8': YES, 'where-x7w6': NO_ROOTS, 'why-v5u4': declined },
  })
})

test('a wish that policy has no answer to is left without one, and that is told', async () => {
  const SAMPLE = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }
  const report = await asking([
    ['sure-z9y8', SURE, YES],
    ['where-x7w6', ROOTS, NO_ROOTS],
    ['draw-n1m2', SAMPLE, {}],
  ])
  expect(report.notes).toEqual([
    'the server requests sampling/createMessage as "draw-n1m2" in a round of input, which was not recorded: left without an answer',
  ])
  expect(sentIn(report)).toMatchObject({ inputResponses: { 'sure-z9y8': YES, 'where-x7w6': NO_ROOTS } })
})
