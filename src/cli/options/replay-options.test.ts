import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { folderWith } from '../../../test/support/config-folder.ts'
import { readProjectConfig } from '../../config/project-config.ts'
import { EVERY_ITEM } from '../../json/path.ts'
import { readReplaySection, type ReplayFlags } from './replay-options.ts'

const fitsSchema = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(
  Object(JSON.parse(readFileSync('schema/config-1.json', 'utf8'))),
)

test('every member of the section is read', () => {
  const settings = read(`replay:
  defaults: { speed: x2, validateResponses: true, transformIds: false, updateTimestamps: true, timeout: 500, startTimeout: 120s }
  validation:
    enabled: true
    strictMode: true
    officialSchema: always
    ignoreFields: [timestamp, id]
    ignore: ['result.content[0].text']
    unordered: [result.items]
  tolerance: { numeric: 1%, timing: 100 }
  errorHandling: { strategy: retry, maxRetries: 5, retryDelay: 20 }
  performance: { parallelExecution: true, maxConcurrent: 4, bufferSize: 16 }
`)
  expect(settings).toEqual({
    timing: { kind: 'scaled', factor: 2 },
    validate: true,
    transformIds: false,
    updateTimestamps: true,
    timeout: 500,
    startTimeout: 120_000,
    strict: true,
    officialSchema: 'always',
    ignoreFields: ['timestamp', 'id'],
    ignore: ['result.content[0].text'],
    unordered: ['result.items'],
    numeric: 0.01,
    slower: 100,
    onError: 'retry',
    maxRetries: 5,
    retryDelay: 20,
    maxConcurrent: 4,
    bufferSize: 16,
  })
})

test.each([
  ['replay: { validation: { tolerance: { numeric: 0.01, timing: 100ms } } }', { numeric: 0.01, slower: 100 }],
  ['replay: { errorHandling: { retryDelay: 1s } }', { retryDelay: 1000 }],
  ['replay: { defaults: { timeout: 2.5s } }', { timeout: 2500 }],
])('times may have a unit, and a tolerance may stand in the validation: %s', (text, settings) => {
  expect(read(`${text}\n`)).toEqual(settings)
})

const SCENARIO = `replay:
  includeMethods: [tools/call, resources/read]
  excludeMethods: ['tools/call:wipe']
  startOffset: 1s
  endOffset: 2m
  skipNotifications: true
  skipErrors: true
  ordering: { priority: { methodPriority: { tools/call: 2 } } }
  errorInjection: { probability: 0.1, errorTypes: [timeout, network_error, invalid-response], seed: 42 }
  parameterOverrides:
    tools/call:$.arguments.q: '\${env.NAME}'
    tools/call:search:$.arguments.limit: 5
    $.arguments.page: [1]
`
const SCENARIO_NAMES =
  /includeMethods|excludeMethods|startOffset|endOffset|skip[NE]\w+|methodPriority|errorInjection|errorTypes|parameterOverrides/g

test.each([
  ['camelCase', SCENARIO],
  [
    'snake_case',
    SCENARIO.replaceAll(SCENARIO_NAMES, (name) =>
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ),
  ],
])('a config holds a whole scenario: %s', (_, text) => {
  const { rules, ...settings } = read(text)
  expect(settings).toEqual({
    include: ['tools/call', 'resources/read'],
    exclude: ['tools/call:wipe'],
    from: 1000,
    to: 120_000,
    skipNotifications: true,
    skipErrors: true,
    order: 'priority',
    priority: [['tools/call', 2]],
    inject: 0.1,
    injectErrors: ['timeout', 'network-error', 'invalid-response'],
    seed: 42,
  })
  expect(rules?.map(({ when, action }) => [when, action])).toEqual([
    [
      { kind: 'method', equals: 'tools/call' },
      { kind: 'set-param', path: ['arguments', 'q'], value: 'milk' },
    ],
    [
      { kind: 'tool', equals: 'search' },
      { kind: 'set-param', path: ['arguments', 'limit'], value: 5 },
    ],
    [
      { kind: 'path', path: ['arguments', 'page'] },
      { kind: 'set-param', path: ['arguments', 'page'], value: [1] },
    ],
  ])
})

test.each([
  ['ordering: random', { order: 'random' }],
  ['ordering: { random: { seed: 7 } }', { order: 'random', seed: 7 }],
  ['ordering: { priority: { tools/call: 2 } }', { order: 'priority', priority: [['tools/call', 2]] }],
  ['order: sequential', { order: 'sequential' }],
  [
    'order: priority\n  priority: { ping: 1 }\n  seed: 3',
    { order: 'priority', priority: [['ping', 1]], seed: 3 },
  ],
  ['inject: 0.5\n  inject_errors: [disconnect]', { inject: 0.5, injectErrors: ['disconnect'] }],
  ['include: [ping]\n  include_methods: [tools/call]', { include: ['ping', 'tools/call'] }],
])('the order and the injected errors: %j', (text, settings) => {
  expect(read(`replay:\n  ${text}\n`)).toEqual(settings)
})

test('the example of the page is accepted', () => {
  const [, example = ''] =
    /```yaml\n(replay:\n.*?)```/s.exec(readFileSync('docs/reference/config.md', 'utf8')) ?? []
  const { numeric, rules, validation } = read(example)
  expect(numeric).toBe(0.01)
  expect([rules, validation].map((list) => list?.length)).toEqual([4, 2])
})

test('names may be written in snake_case', () => {
  expect(
    read(`replay:
  defaults: { validate_responses: true, transform_ids: false }
  error_handling: { strategy: stop, max_retries: 1 }
  transformations:
    - { name: a, condition: { method_equals: ping }, action: { set_param: { path: $.x, value: 1 } } }
`),
  ).toEqual({
    validate: true,
    transformIds: false,
    onError: 'stop',
    maxRetries: 1,
    rules: [
      {
        name: 'a',
        when: { kind: 'method', equals: 'ping' },
        action: { kind: 'set-param', path: ['x'], value: 1 },
      },
    ],
  })
})

test.each([
  ['defaults: { validateResponses: false }\n  validation: { enabled: true }', { validate: false }],
  ['defaults: { validateResponses: true }\n  validation: { enabled: false }', { validate: false }],
  ['performance: { parallelExecution: false, maxConcurrent: 9 }', { maxConcurrent: 1 }],
  ['tolerance: { numeric: 0.05 }', { numeric: 0.05 }],
  ['defaults: { speed: realtime }', { timing: { kind: 'original' } }],
  ['defaults: { speed: 3 }', { timing: { kind: 'scaled', factor: 3 } }],
  ['defaults: { speed: 100ms }', { timing: { kind: 'fixed', delay: 100 } }],
  ['defaults: { speed: 50rps }', { timing: { kind: 'adaptive', rps: 50 } }],
])('the setting %j means %j', (text, settings) => {
  expect(read(`replay:\n  ${text}\n`)).toEqual(settings)
})

test.each([
  ['always', { kind: 'always' }],
  ['{ methodEquals: tools/call }', { kind: 'method', equals: 'tools/call' }],
  ['{ messageType: notification }', { kind: 'message-type', equals: 'notification' }],
  ['{ index: 3 }', { kind: 'index', equals: 3 }],
  ['{ tool: search }', { kind: 'tool', equals: 'search' }],
  ['{ path: $.arguments.q }', { kind: 'path', path: ['arguments', 'q'] }],
  ['{ path: { path: "$.items[*]", equals: 5 } }', { kind: 'path', path: ['items', EVERY_ITEM], equals: 5 }],
])('the condition %s', (written, when) => {
  const { rules } = read(
    `replay:\n  transformations: [{ name: a, condition: ${written}, action: { delay: 5 } }]\n`,
  )
  expect(rules).toEqual([{ name: 'a', when, action: { kind: 'delay', by: 5 } }])
})

test.each([
  ['regenerateId', { kind: 'regenerate-id' }],
  ['{ mapId: { from: 1, to: seven } }', { kind: 'map-id', from: 1, to: 'seven' }],
  [
    '{ setParam: { path: $.q, value: { a: ["${env.NAME}"] } } }',
    { kind: 'set-param', path: ['q'], value: { a: ['milk'] } },
  ],
  ['{ removeParam: $.q }', { kind: 'remove-param', path: ['q'] }],
  ['{ removeParam: { path: $.q } }', { kind: 'remove-param', path: ['q'] }],
  [
    '{ replaceParam: { path: $.q, pattern: "a+", replacement: "${env.NAME}!" } }',
    { kind: 'replace-param', path: ['q'], pattern: /a+/g, replacement: 'milk!' },
  ],
  ['{ setResult: { path: $.n, value: 5 } }', { kind: 'set-result', path: ['n'], value: 5 }],
  ['{ injectError: { code: -32000, message: no } }', { kind: 'inject-error', code: -32000, message: 'no' }],
  ['{ renameMethod: tools/find }', { kind: 'rename-method', to: 'tools/find' }],
  ['{ setTimestamp: $.at }', { kind: 'set-timestamp', path: ['at'] }],
  [
    '{ setTimestamp: { path: $.at, date: "2026-01-31T12:00:00Z" } }',
    { kind: 'set-timestamp', path: ['at'], date: '2026-01-31T12:00:00.000Z' },
  ],
])('the action %s', (written, action) => {
  const { rules } = read(`replay:\n  transformations: [{ name: a, action: ${written} }]\n`)
  expect(rules).toEqual([{ name: 'a', when: { kind: 'always' }, action }])
})

test.each([
  ['{ name: a, kind: exact }', { appliesTo: { kind: 'all' }, kind: { kind: 'exact' }, onFailure: 'error' }],
  [
    '{ name: a, appliesTo: { tool: search }, kind: structural, onFailure: warn }',
    { appliesTo: { kind: 'tool', equals: 'search' }, kind: { kind: 'structural' }, onFailure: 'warn' },
  ],
  [
    '{ name: a, appliesTo: { messageType: error }, kind: partial, onFailure: skip }',
    { appliesTo: { kind: 'message-type', equals: 'error' }, kind: { kind: 'partial' }, onFailure: 'skip' },
  ],
  [
    '{ name: a, appliesTo: { method: ping }, kind: { partial: { required: [result.a] } }, onFailure: retry }',
    {
      appliesTo: { kind: 'method', equals: 'ping' },
      kind: { kind: 'partial', required: ['result.a'] },
      onFailure: 'retry',
    },
  ],
])('the validation rule %s', (written, rule) => {
  const { validation } = read(`replay:\n  validation: { rules: [${written}] }\n`)
  expect(validation).toEqual([{ name: 'a', ...rule }])
})

test('functions are what a config in JavaScript is for', () => {
  const folder = folderWith(
    'reelay.config.mjs',
    `export default { replay: {
      defaults: { speed: (previous, next) => next - previous },
      transformations: [{ name: 'a', condition: { custom: (passing) => passing.index === 7 }, action: 'regenerateId' }],
      validation: { rules: [{ name: 'b', appliesTo: { custom: (judged) => judged.tool === 'x' }, kind: { custom: () => 'too short' } }] },
    } }`,
  )
  const { timing, rules, validation } = sectionOf(join(folder, 'reelay.config.mjs'))
  const [[transformation], [rule]] = [rules ?? [], validation ?? []]
  expect(timing?.kind === 'custom' && Reflect.apply(timing.delay, undefined, [2, 5])).toBe(3)
  const when = transformation?.when
  expect(
    when?.kind === 'custom' && [6, 7].map((index) => Reflect.apply(when.test, undefined, [{ index }])),
  ).toEqual([false, true])
  const { appliesTo, kind } = rule ?? {}
  expect(appliesTo?.kind === 'custom' && Reflect.apply(appliesTo.test, undefined, [{ tool: 'x' }])).toBe(true)
  expect(kind?.kind === 'custom' && Reflect.apply(kind.check, undefined, [{}])).toBe('too short')
})

test('what a function throws is told with its place', () => {
  const folder = folderWith(
    'reelay.config.mjs',
    `export default { replay: { defaults: { speed: () => { throw new Error('no clock') } } } }`,
  )
  const { timing } = sectionOf(join(folder, 'reelay.config.mjs'))
  expect(() => timing?.kind === 'custom' && Reflect.apply(timing.delay, undefined, [])).toThrow(
    '"replay.defaults.speed" cannot be used: no clock',
  )
})

test.each([
  ['defaults: { sped: fast }', 'line 2, column 15: "replay.defaults.sped" is unknown'],
  [
    'defaults: { speed: quick }',
    'line 2, column 22: "replay.defaults.speed" is not a pace (expected none, recorded',
  ],
  [
    'tolerance: { timing: soon }',
    'line 2, column 24: "replay.tolerance.timing" is not a duration such as 100 (milliseconds), 100ms or 1s',
  ],
  [
    'performance: { maxConcurrent: 0 }',
    'line 2, column 33: "replay.performance.maxConcurrent" is not a whole number above 0',
  ],
  [
    'errorHandling: { strategy: cry }',
    'line 2, column 30: "replay.errorHandling.strategy" must be one of continue, pause, stop, retry',
  ],
  [
    'transformations: [{ name: a }]',
    'line 2, column 21: "replay.transformations[0]" needs "name" and "action"',
  ],
  [
    'transformations: [{ name: a, action: { setParam: { path: $.a } } }]',
    'line 2, column 52: "replay.transformations[0].action.setParam" needs "value"',
  ],
  [
    'transformations: [{ name: a, action: { renameMethod: b, delay: 1 } }]',
    'line 2, column 40: "replay.transformations[0].action" must be one of regenerateId, ',
  ],
  [
    'validation: { rules: [{ name: a, kind: near }] }',
    'line 2, column 42: "replay.validation.rules[0].kind" must be one of exact, structural, partial, custom',
  ],
  ['validation: { strictMode: 5 }', 'line 2, column 29: "replay.validation.strictMode" is not true or false'],
])('%j is refused with its place, by the schema too', (text, why) => {
  const written = `replay:\n  ${text}\n`
  const folder = folderWith('reelay.config.yaml', written)
  const file = join(folder, 'reelay.config.yaml')
  expect(() => sectionOf(file)).toThrow(`${file}, ${why}`)
  expect(fitsSchema(parse(written))).toBe(false)
})

test.each([
  [
    'validation: { ignore: ["a..b"] }',
    'line 2, column 26: "replay.validation.ignore[0]" cannot be used: cannot read the path "a..b"',
  ],
  [
    'transformations: [{ name: a, action: { replaceParam: { path: $.a, pattern: "(", replacement: "" } } }]',
    'cannot be used: Invalid regular expression',
  ],
  [
    'transformations: [{ name: a, action: { setParam: { path: $.a, value: "${env.NO_SUCH}" } } }]',
    'cannot be used: the environment variable NO_SUCH is not set',
  ],
  [
    'errorHandling: { maxRetries: 1, max_retries: 2 }',
    'line 2, column 35: "replay.errorHandling.max_retries" is given twice',
  ],
  ['ordering: random\n  order: random', '"replay.ordering" and "order" set the same option'],
  ['errorInjection: { errorTypes: [timeout] }', '"replay.errorInjection" needs "probability"'],
  ['from: 1s\n  start_offset: 2s', '"replay.start_offset" is given twice, under two names'],
  ['priority: { ping: 1 }', '"replay.priority" has no effect unless the order is "priority"'],
  [
    'transformations: [{ name: a, condition: { custom: x }, action: regenerateId }]',
    'is not a function; only a config in JavaScript can contain one',
  ],
])('%j is refused, though no schema can tell', (text, why) => {
  const folder = folderWith('reelay.config.yaml', `replay:\n  ${text}\n`)
  expect(() => sectionOf(join(folder, 'reelay.config.yaml'))).toThrow(why)
})

/** What is accepted here fits the published schema, too. */
function read(text: string): Partial<ReplayFlags> {
  const folder = folderWith('reelay.config.yaml', text)
  expect(fitsSchema(parse(text))).toBe(true)
  return sectionOf(join(folder, 'reelay.config.yaml'))
}

function sectionOf(file: string): Partial<ReplayFlags> {
  const section = readProjectConfig(file).section('replay')
  if (section === undefined) throw new Error('there is no section')
  return readReplaySection(section, { NAME: 'milk', TOKEN: 't' })
}
