import { expect, test } from 'vitest'
import { liveServer } from '../../../test/support/live-server.ts'
import { callOf, client, HANDSHAKE, server, tapeOf } from '../../../test/support/tape-of.ts'
import type { ReplayOptions } from '../options.ts'
import { replay } from '../replay.ts'
import type { ReplayStep } from '../steps/step.ts'
import type { ReplayReport } from '../report.ts'
import type { RuleComparison, ValidationRule } from './comparison-rules.ts'

const RECORDED = { id: 7, price: 100, at: 'Tuesday', tags: ['a', 'b'] }

test('without rules every value counts, and a difference is told with its path and both sides', async () => {
  const { findings, judgedBy } = await judged({ ...RECORDED, id: 8 })
  expect(judgedBy).toEqual(['exact'])
  expect(findings).toMatchObject([
    {
      layer: 'values',
      level: 'error',
      message: 'changed',
      path: 'result.structuredContent.id',
      expected: 7,
      actual: 8,
    },
  ])
})

test.each<[string, Omit<ReplayOptions, 'target'>, object, boolean]>([
  ['a field of that name', { ignoreFields: ['id'] }, { ...RECORDED, id: 8 }, true],
  ['no other field', { ignoreFields: ['at'] }, { ...RECORDED, id: 8 }, false],
  ['a place', { ignore: ['result.structuredContent.id'] }, { ...RECORDED, id: 8 }, true],
  [
    'another order',
    { unordered: ['result.structuredContent.tags'] },
    { ...RECORDED, tags: ['b', 'a'] },
    true,
  ],
  ['no other order', {}, { ...RECORDED, tags: ['b', 'a'] }, false],
  ['a number one percent away', { numeric: 0.01 }, { ...RECORDED, price: 101 }, true],
  ['a number further away', { numeric: 0.01 }, { ...RECORDED, price: 102 }, false],
  ['everything', { validate: false }, { other: true }, true],
])('what is not compared: %s', async (_, options, live, passes) => {
  const { findings } = await judged(live, options)
  expect(findings.length === 0).toBe(passes)
})

test.each<[string, RuleComparison, object, readonly string[]]>([
  [
    'exact: more is a difference',
    { kind: 'exact' },
    { ...RECORDED, more: 1 },
    ['result.structuredContent.more'],
  ],
  ['structural: other values are none', { kind: 'structural' }, { ...RECORDED, id: 8, at: 'Friday' }, []],
  [
    'structural: another type is one',
    { kind: 'structural' },
    { ...RECORDED, id: '7' },
    ['result.structuredContent.id'],
  ],
  ['partial: more is none', { kind: 'partial' }, { ...RECORDED, more: 1 }, []],
  [
    'partial: less is one',
    { kind: 'partial' },
    { ...RECORDED, at: undefined },
    ['result.structuredContent.at'],
  ],
  [
    'partial with required places: only these count',
    { kind: 'partial', required: ['result.structuredContent.id'] },
    { ...RECORDED, id: 8, at: 'Friday' },
    ['result.structuredContent.id'],
  ],
])('how values are compared: %s', async (_, kind, live, paths) => {
  const { findings } = await judged(live, { validation: [ruleOf({ kind })] })
  expect(findings.map(({ path }) => path)).toEqual(paths)
})

test('another order of a list is found beside another value', async () => {
  const { findings } = await judged({ ...RECORDED, id: 8, tags: ['b', 'a'] })
  expect(findings).toMatchObject([
    { layer: 'values', path: 'result.structuredContent.id' },
    {
      layer: 'order',
      message: 'the same items come in another order',
      path: 'result.structuredContent.tags',
    },
  ])
})

test('custom: a function says what is wrong, or nothing', async () => {
  const kind: RuleComparison = { kind: 'custom', check: ({ tool }) => `${tool} is wrong` }
  expect((await judged(RECORDED_DIFFERENTLY, { validation: [ruleOf({ kind })] })).findings).toMatchObject([
    { layer: 'values', message: 'mine: search is wrong' },
  ])
  const content: RuleComparison = { kind: 'custom', check: () => undefined }
  expect((await judged(RECORDED_DIFFERENTLY, { validation: [ruleOf({ kind: content })] })).findings).toEqual(
    [],
  )
})

test('custom: a function is asked of an answer with the recorded bytes, too', async () => {
  const kind: RuleComparison = { kind: 'custom', check: () => 'it never is' }
  expect((await judged(RECORDED, { validation: [ruleOf({ kind })] })).findings).toMatchObject([
    { layer: 'values', level: 'error', message: 'mine: it never is' },
  ])
})

test.each<[string, ValidationRule['appliesTo'], boolean]>([
  ['all', { kind: 'all' }, true],
  ['its method', { kind: 'method', equals: 'tools/call' }, true],
  ['another method', { kind: 'method', equals: 'ping' }, false],
  ['its tool', { kind: 'tool', equals: 'search' }, true],
  ['another tool', { kind: 'tool', equals: 'count' }, false],
  ['results', { kind: 'message-type', equals: 'result' }, true],
  ['errors', { kind: 'message-type', equals: 'error' }, false],
  ['what a function says', { kind: 'custom', test: ({ duration }) => duration !== undefined }, true],
  ['what a function denies', { kind: 'custom', test: () => false }, false],
])('a validation rule for %s', async (_, appliesTo, applies) => {
  const { findings, judgedBy } = await judged(RECORDED_DIFFERENTLY, {
    validation: [ruleOf({ appliesTo, kind: { kind: 'structural' } })],
  })
  expect(judgedBy).toEqual([applies ? 'mine' : 'exact'])
  expect(findings.length === 0).toBe(applies)
})

test.each<[ValidationRule['onFailure'], readonly string[], object]>([
  ['ignore', [], { verdict: 'pass', checked: 1, passed: 1, failed: 0, skipped: 0 }],
  ['warn', ['warn'], { verdict: 'pass', checked: 1, passed: 1, failed: 0, skipped: 0 }],
  ['error', ['error'], { verdict: 'fail', checked: 1, passed: 0, failed: 1, skipped: 0 }],
  ['skip', ['skip'], { verdict: 'pass', checked: 0, passed: 0, failed: 0, skipped: 1 }],
])('a rule that is not kept, on failure %s', async (onFailure, levels, account) => {
  const report = await reportOf(RECORDED_DIFFERENTLY, { validation: [ruleOf({ onFailure })] })
  expect(stepIn(report).findings.map(({ level }) => level)).toEqual(levels)
  expect({ ...report.summary, ...report.validation }).toMatchObject(account)
})

test('a rule that is not kept, on failure retry: the request is sent again, and passes when it is kept then', async () => {
  const validation = [ruleOf({ onFailure: 'retry' })]
  let calls = 0
  const live = liveServer(() => ({ result: resultOf(++calls < 3 ? RECORDED_DIFFERENTLY : RECORDED) }))
  const report = await replay(tape, { ...live, validation, retryDelay: 1 }).report
  expect(stepIn(report)).toMatchObject({ retries: 2, findings: [] })
  const never = await reportOf(RECORDED_DIFFERENTLY, { validation, maxRetries: 1, retryDelay: 1 })
  expect(stepIn(never)).toMatchObject({ retries: 1, findings: [{ level: 'error' }] })
})

test('what is not compared is not counted as checked, whatever the answer', async () => {
  for (const live of [RECORDED, RECORDED_DIFFERENTLY]) {
    const { validation } = await reportOf(live, { validate: false })
    expect(validation).toMatchObject({ checked: 0, passed: 0, failed: 0 })
  }
})

test('strict makes errors of warnings', async () => {
  const options = { validation: [ruleOf({ onFailure: 'warn' })], strict: true } as const
  expect((await reportOf(RECORDED_DIFFERENTLY, options)).summary.verdict).toBe('fail')
})

test('an answer that is slower than it may be is an error of timing', async () => {
  const slow = liveServer(async () => {
    await new Promise((resolve) => setTimeout(resolve, 30))
    return { result: resultOf(RECORDED) }
  })
  const { steps } = await replay(tape, { ...slow, slower: 5 }).report
  expect(steps.at(-1)?.findings).toMatchObject([{ layer: 'timing', level: 'error', expected: 1 }])
})

const RECORDED_DIFFERENTLY = { ...RECORDED, id: 8 }

const tape = tapeOf(
  ...HANDSHAKE,
  client(callOf(1, 'search', {})),
  server({ id: 1, result: resultOf(RECORDED) }),
)

function ruleOf(parts: Partial<ValidationRule>): ValidationRule {
  return { name: 'mine', appliesTo: { kind: 'all' }, kind: { kind: 'exact' }, onFailure: 'error', ...parts }
}

async function judged(live: object, options: Omit<ReplayOptions, 'target'> = {}): Promise<ReplayStep> {
  return stepIn(await reportOf(live, options))
}

function reportOf(live: object, options: Omit<ReplayOptions, 'target'>): Promise<ReplayReport> {
  return replay(tape, { ...liveServer(() => ({ result: resultOf(live) })), ...options }).report
}

function stepIn({ steps }: ReplayReport): ReplayStep {
  const step = steps.find(({ tool }) => tool === 'search')
  if (step === undefined) throw new Error('there is no such step')
  return step
}

function resultOf(structuredContent: object): object {
  return { content: [], structuredContent }
}
