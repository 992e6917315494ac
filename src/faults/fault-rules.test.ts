import { expect, test } from 'vitest'
import { FAULT_KINDS } from './kinds/registry.ts'
import { FAULT_PRESETS, presetFaults } from './presets.ts'
import { describeFaultRule, parseFaultRules, SessionFaults } from './fault-rules.ts'

test.each([
  [{ tool: 'search' }, 'faults[0]: a fault needs exactly one kind'],
  [{ timeout: true, delay: 1 }, 'faults[0]: a fault needs exactly one kind'],
  [{ timeout: 'yes' }, 'faults[0]: invalid value for "timeout"'],
  [{ delay: '3 weeks' }, 'faults[0]: invalid value for "delay"'],
  [{ http: 200 }, 'faults[0]: invalid value for "http"'],
  [{ storm: 0 }, 'faults[0]: invalid value for "storm"'],
  [{ error: { code: 'x', message: '' } }, 'faults[0]: invalid value for "error"'],
  [{ tooll: 'x', timeout: true }, 'faults[0]: unknown key "tooll"'],
  [{ nth: 0, timeout: true }, 'faults[0]: "nth" is not a whole number above 0'],
  [{ every: 1.5, timeout: true }, 'faults[0]: "every" is not a whole number above 0'],
  [{ probability: 2, timeout: true }, 'faults[0]: "probability" is not a number from 0 to 1'],
  [{ method: 1, timeout: true }, 'faults[0]: "method" is not a string'],
  [{ oneOf: [] }, 'faults[0]: "oneOf" must be a list of faults'],
  [{ oneOf: [{ timeout: true }], delay: 1 }, 'faults[0]: a fault needs exactly one kind'],
  [{ oneOf: [{ timeout: true, nth: 2 }] }, 'faults[0]: unknown key "nth"'],
  [{ first: 0, timeout: true }, 'faults[0]: "first" is not a whole number above 0'],
  [{ malformed: 'a-bit' }, 'faults[0]: invalid value for "malformed"'],
  [{ skew: 'soon' }, 'faults[0]: invalid value for "skew"'],
  [{ flood: 20_000 }, 'faults[0]: invalid value for "flood"'],
  [{ downgrade: 1 }, 'faults[0]: invalid value for "downgrade"'],
  [17, 'faults[0]: this entry is not an object'],
])('an invalid fault is refused with its location: %j', (fault, message) => {
  expect(() => parseFaultRules({ faults: [fault] })).toThrow(message)
})

test('a rule describes itself', () => {
  const rules = parseFaultRules([
    { tool: 'search', nth: 2, timeout: true },
    { method: 'tools/list', probability: 0.25, delay: 250 },
    { every: 3, params: { x: 1 }, duplicate: true },
    { oneOf: [{ timeout: true }, { http: 503 }] },
  ])
  expect(rules.map(describeFaultRule)).toEqual([
    'each call of search (number 2 only) is never answered',
    'each tools/list (with probability 0.25) is answered 250 ms late',
    'each request with {"x":1} (one in 3) is answered twice',
    'each request is never answered, or is answered with HTTP 503',
  ])
})

test('one of several faults is drawn for each request, the same ones for the same seed', () => {
  const rules = parseFaultRules([{ oneOf: [{ timeout: true }, { disconnect: true }] }])
  const kinds = (seed: number): readonly (string | undefined)[] => {
    const faults = new SessionFaults(rules, seed)
    return Array.from({ length: 20 }, () => faults.faultFor({ method: 'ping', params: {} })?.kind)
  }
  expect(new Set(kinds(1))).toEqual(new Set(['timeout', 'disconnect']))
  expect(kinds(1)).toEqual(kinds(1))
  expect(kinds(1)).not.toEqual(kinds(2))
})

test('the example of each kind is a valid fault', () => {
  const rules = parseFaultRules(FAULT_KINDS.map(({ name, example }) => ({ [name]: example })))
  expect(rules).toHaveLength(FAULT_KINDS.length)
})

test('each preset is a list of faults for calls of tools', () => {
  for (const { name } of FAULT_PRESETS)
    expect(presetFaults(name)?.every(({ when }) => when.method === 'tools/call')).toBe(true)
  expect(presetFaults('recover-after:7')?.[0]?.when.first).toBe(7)
  expect([presetFaults('slow:3'), presetFaults('recover-after:x'), presetFaults('faults.yaml')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
