import { expect, test } from 'vitest'
import { createReport, type ReplayReport, type RunFacts } from './report.ts'
import { RunTotals } from './steps/run-totals.ts'
import type { ReplayStep } from './steps/step.ts'
import { StepLog } from './steps/step-log.ts'

const facts: RunFacts = {
  tape: 'a.tape.jsonl',
  tapeId: '01K',
  target: 'a server',
  duration: 2000,
  notes: ['n'],
  bindings: [],
  guesses: [],
}

test('the summary counts what was sent, left out, held back and unbound, and the share that was found good', () => {
  const { summary } = reportOf(
    [
      step({ duration: 10 }),
      step({ duration: 10, findings: [{ layer: 'values', level: 'error', message: 'm' }] }),
      step({ duration: 10, findings: [{ layer: 'timing', level: 'warn', message: 'm' }] }),
      step({ state: 'timeout', findings: [{ layer: 'transport', level: 'error', message: 'm' }] }),
      step({ state: 'skipped', sentAt: undefined }),
      step({ state: 'held', sentAt: undefined }),
      step({ state: 'unbound', sentAt: undefined }),
    ],
    facts,
  )
  expect(summary).toEqual({
    tape: 'a.tape.jsonl',
    tapeId: '01K',
    target: 'a server',
    verdict: 'fail',
    total: 7,
    sent: 4,
    injected: 0,
    skipped: 1,
    held: 1,
    unbound: 1,
    duration: 2000,
    successRate: 0.5,
  })
})

test('the performance is that of the answers that came', () => {
  const answers = Array.from({ length: 99 }, (_, place) => step({ duration: place + 1 }))
  const { performance } = reportOf([...answers, step({ state: 'timeout', duration: 10_000 })], facts)
  expect(performance.avg).toBeCloseTo(50, 0)
  expect(performance.p50).toBeCloseTo(50, 0)
  expect(performance.p95).toBeCloseTo(95, 0)
  expect(performance.p99).toBeCloseTo(99, 0)
  expect([performance.throughput, performance.errorRate]).toEqual([49.5, 0.01])
})

test('the error rate counts requests without an answer and those that were answered with an error', () => {
  const steps = [
    step({ duration: 1 }),
    step({ duration: 1, isError: true }),
    step({ duration: 1, isError: true, findings: [finding('values', 'error')] }),
    step({ state: 'lost', sentAt: 0 }),
  ]
  expect(reportOf(steps, facts).performance.errorRate).toBe(0.75)
})

test('the validation counts findings by layer, and answers by what was found', () => {
  const { validation } = reportOf(
    [
      step({ duration: 1, findings: [finding('values', 'error'), finding('values', 'error')] }),
      step({ duration: 1, findings: [finding('timing', 'warn')] }),
      step({ duration: 1, findings: [finding('values', 'skip')] }),
      step({ duration: 1 }),
    ],
    facts,
  )
  expect(validation).toEqual({
    checked: 3,
    passed: 2,
    failed: 1,
    skipped: 1,
    unrecorded: 0,
    layers: {
      transport: 0,
      'json-rpc': 0,
      'is-error': 0,
      schema: 0,
      values: 3,
      order: 0,
      notifications: 0,
      timing: 1,
    },
  })
})

test('errors are what got no answer, and the timeline what was sent, both in the order of the tape', () => {
  const { errors, timeline } = reportOf(
    [
      step({ index: 2, state: 'lost', why: 'the server is gone', sentAt: 30 }),
      step({ index: 0, duration: 5, sentAt: 10 }),
      step({ index: 1, state: 'timeout', why: undefined, sentAt: 20 }),
      step({ index: 3, state: 'skipped', sentAt: undefined }),
    ],
    facts,
  )
  expect(errors).toEqual([
    { index: 1, method: 'tools/call', why: 'timeout' },
    { index: 2, method: 'tools/call', why: 'the server is gone' },
  ])
  expect([...timeline]).toEqual([
    { index: 0, at: 10, duration: 5, state: 'done' },
    { index: 1, at: 20, duration: undefined, state: 'timeout' },
    { index: 2, at: 30, duration: undefined, state: 'lost' },
  ])
})

test.each([
  ['pass', []],
  ['incomplete', [step({ state: 'held', sentAt: undefined })]],
  ['incomplete', [step({ state: 'unbound', sentAt: undefined })]],
  ['incomplete', [step({ state: 'skipped', sentAt: undefined, why: 'the run was stopped' })]],
  ['fail', [step({ state: 'held', sentAt: undefined }), step({ findings: [finding('order', 'error')] })]],
] as const)('the verdict %s', (verdict, others) => {
  expect(reportOf([step({ duration: 1 }), ...others], facts).summary.verdict).toBe(verdict)
})

test('a run that sent nothing is incomplete', () => {
  const skipped = step({ state: 'skipped', sentAt: undefined, why: 'left out' })
  expect(reportOf([skipped], facts).summary.verdict).toBe('incomplete')
  expect(reportOf([], facts).summary.verdict).toBe('incomplete')
})

function reportOf(steps: readonly ReplayStep[], run: RunFacts): ReplayReport {
  const [totals, log] = [new RunTotals(), new StepLog()]
  for (const each of steps) {
    totals.add(each)
    log.add(each)
  }
  return createReport(totals, log.steps(), run)
}

function finding(layer: 'values' | 'timing' | 'order', level: 'error' | 'warn' | 'skip') {
  return { layer, level, message: 'm' } as const
}

function step(parts: Partial<ReplayStep>): ReplayStep {
  return {
    index: 0,
    frame: 1,
    method: 'tools/call',
    recordedId: 1,
    tool: 'search',
    state: 'done',
    why: undefined,
    sent: '{}',
    answer: undefined,
    recordedAnswer: undefined,
    sentAt: 0,
    duration: undefined,
    recordedDuration: undefined,
    retries: 0,
    findings: [],
    judgedBy: ['exact'],
    transformedBy: [],
    ...parts,
  }
}
