import { expect, test } from 'vitest'
import { classifyMessage } from '../../protocol/message.ts'
import { parsePath } from '../../json/path.ts'
import {
  parseJsonPath,
  type TransformAction,
  type TransformCondition,
  type TransformRule,
  parseSetRule,
} from './rule.ts'
import { shiftTimestamps, applyRules, applyAnswerRules, type TransformedMessage } from './transform.ts'

const CALL =
  '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":{"q":"a-b-a","n":5,"tags":["x","y"]}}}'
const NOW = new Date('2026-11-15T12:00:00.000Z')

test.each<[string, TransformCondition, boolean]>([
  ['always', { kind: 'always' }, true],
  ['its method', { kind: 'method', equals: 'tools/call' }, true],
  ['another method', { kind: 'method', equals: 'tools/list' }, false],
  ['its type', { kind: 'message-type', equals: 'request' }, true],
  ['another type', { kind: 'message-type', equals: 'notification' }, false],
  ['its index', { kind: 'index', equals: 3 }, true],
  ['another index', { kind: 'index', equals: 4 }, false],
  ['its tool', { kind: 'tool', equals: 'search' }, true],
  ['another tool', { kind: 'tool', equals: 'count' }, false],
  ['something at a path', { kind: 'path', path: parseJsonPath('$.arguments.tags[1]') }, true],
  ['nothing at a path', { kind: 'path', path: parseJsonPath('$.arguments.tags[2]') }, false],
  ['a value among several', { kind: 'path', path: parseJsonPath('$.arguments.tags[*]'), equals: 'y' }, true],
  ['another value', { kind: 'path', path: parseJsonPath('$.arguments.q'), equals: 'c' }, false],
  [
    'what a function says of it',
    { kind: 'custom', test: ({ index, tool }) => index === 3 && tool === 'search' },
    true,
  ],
  ['what a function denies', { kind: 'custom', test: () => false }, false],
])('a rule for %s', (_, when, holds) => {
  expect(made({ name: 'a', when, action: { kind: 'delay', by: 5 } })).toMatchObject({
    applied: holds ? ['a'] : [],
    delay: holds ? 5 : 0,
  })
})

test.each<[string, TransformAction, string]>([
  [
    'sets a value',
    { kind: 'set-param', path: ['arguments', 'q'], value: { a: 1 } },
    CALL.replace('"a-b-a"', '{"a":1}'),
  ],
  [
    'sets one that was not there',
    { kind: 'set-param', path: ['arguments', 'm'], value: 1 },
    CALL.replace('["x","y"]', '["x","y"],"m":1'),
  ],
  ['removes a value', { kind: 'remove-param', path: ['arguments', 'n'] }, CALL.replace('"n":5,', '')],
  [
    'removes every item',
    { kind: 'remove-param', path: parsePath('arguments.tags') },
    CALL.replace(',"tags":["x","y"]', ''),
  ],
  [
    'replaces what a pattern finds',
    { kind: 'replace-param', path: ['arguments', 'q'], pattern: /(a)-/, replacement: '$1+' },
    CALL.replace('a-b-a', 'a+b-a'),
  ],
  [
    'replaces in every text of a list',
    { kind: 'replace-param', path: parsePath('arguments.tags[*]'), pattern: /[xy]/, replacement: 'z' },
    CALL.replace('["x","y"]', '["z","z"]'),
  ],
  [
    'leaves what is no text',
    { kind: 'replace-param', path: ['arguments', 'n'], pattern: /5/, replacement: '6' },
    CALL,
  ],
  [
    'renames the method',
    { kind: 'rename-method', to: 'tools/find' },
    CALL.replace('tools/call', 'tools/find'),
  ],
  [
    'writes the time as a date',
    { kind: 'set-timestamp', path: ['arguments', 'q'] },
    CALL.replace('a-b-a', '2026-11-15T12:00:00.000Z'),
  ],
  [
    'writes the time as a number where one stood',
    { kind: 'set-timestamp', path: ['arguments', 'n'] },
    CALL.replace('"n":5', `"n":${NOW.getTime()}`),
  ],
  ['leaves an answer to come alone', { kind: 'set-result', path: ['a'], value: 1 }, CALL],
])('an action %s, and no other byte', (_, action, text) => {
  expect(made(rule(action)).text).toBe(text)
})

test('params are made where there were none', () => {
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
  expect(made(rule({ kind: 'set-param', path: ['a'], value: 1 }), ping).text).toBe(
    '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":1}}',
  )
})

test('an id is mapped where it is the one, and given up again by a later rule', () => {
  const map: TransformRule = rule({ kind: 'map-id', from: 7, to: 'seven' })
  expect(made(map).id).toBe('seven')
  expect(made(rule({ kind: 'map-id', from: '7', to: 'seven' })).id).toBeUndefined()
  expect(apply([map, rule({ kind: 'regenerate-id' })]).id).toBeUndefined()
})

test('an error stands for the answer', () => {
  expect(made(rule({ kind: 'inject-error', code: -32000, message: 'no' })).error).toEqual({
    code: -32000,
    message: 'no',
  })
})

test('rules are applied in their order: each sees what those before it did, and all are named', () => {
  const { text, applied, delay } = apply([
    { name: 'rename', when: { kind: 'always' }, action: { kind: 'rename-method', to: 'tools/find' } },
    { name: 'too late', when: { kind: 'method', equals: 'tools/call' }, action: { kind: 'delay', by: 1 } },
    { name: 'in time', when: { kind: 'method', equals: 'tools/find' }, action: { kind: 'delay', by: 2 } },
    { name: 'more', when: { kind: 'always' }, action: { kind: 'delay', by: 3 } },
  ])
  expect(text).toContain('tools/find')
  expect({ applied, delay }).toEqual({ applied: ['rename', 'in time', 'more'], delay: 5 })
})

test('a value is set in an answer, and an error stays one', () => {
  const rules = [rule({ kind: 'set-result', path: ['a', 'b'], value: 2 })]
  const passing = { index: 3, tool: 'search', message: classifyMessage(JSON.parse(CALL)) }
  expect(applyAnswerRules('{"jsonrpc":"2.0","id":7,"result":{"a":{"b":1,"c":1}}}', passing, rules)).toBe(
    '{"jsonrpc":"2.0","id":7,"result":{"a":{"b":2,"c":1}}}',
  )
  const error = '{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}'
  expect(applyAnswerRules(error, passing, rules)).toBe(error)
})

test('points in time are moved by the elapsed time, and nothing that only looks a little like one', () => {
  const text =
    '{"method":"a","params":{"from":"2026-01-01T00:00:00Z","deep":[{"at":"2026-01-01T02:00:00+02:00"}],"day":"2026-01-01","name":"at 2026-01-01T00:00:00Z"}}'
  expect(shiftTimestamps(text, 3_600_000)).toBe(
    '{"method":"a","params":{"from":"2026-01-01T01:00:00.000Z","deep":[{"at":"2026-01-01T01:00:00.000Z"}],"day":"2026-01-01","name":"at 2026-01-01T00:00:00Z"}}',
  )
})

test.each([
  ['tools/call:$.arguments.q=milk', { kind: 'method', equals: 'tools/call' }, 'milk'],
  ['tools/call:search:$.arguments.q=5', { kind: 'tool', equals: 'search' }, 5],
  ['tools/call:$.arguments.q="5"', { kind: 'method', equals: 'tools/call' }, '5'],
  ['tools/call:$.arguments.q=null', { kind: 'method', equals: 'tools/call' }, null],
  ['tools/call:$.arguments.q=${env.NAME}=x', { kind: 'method', equals: 'tools/call' }, 'milk=x'],
])('--set %s', (text, when, value) => {
  expect(parseSetRule(text, { NAME: 'milk' })).toMatchObject({
    when,
    action: { kind: 'set-param', path: ['arguments', 'q'], value },
  })
})

test('--set refuses a tool of a method that has none, and says how a path is written', () => {
  expect(() => parseSetRule('prompts/get:hello:$.arguments.q=1', {})).toThrow(
    '--set "prompts/get:hello:$.arguments.q=1" names a tool, but the method has no tools',
  )
  expect(() => parseSetRule('tools/call:$..q=1', {})).toThrow(
    expect.objectContaining({ hint: expect.stringMatching(/^write it like \$\.arguments\.limit/) }),
  )
})

function rule(action: TransformAction): TransformRule {
  return { name: 'a', when: { kind: 'always' }, action }
}

function made(one: TransformRule, text?: string): TransformedMessage {
  return apply([one], text)
}

function apply(rules: readonly TransformRule[], text: string = CALL): TransformedMessage {
  return applyRules(text, { index: 3, tool: 'search' }, rules, () => NOW)
}
