import { ReelayError } from '../../errors.ts'
import { parsePath } from '../../json/path.ts'
import type { ValidationRule } from '../../replay/judge/comparison-rules.ts'
import { parseSpeed, type Timing } from '../../replay/plan/timing.ts'
import type { ErrorInjection } from '../../replay/send/error-injection.ts'
import { parseSetRule, type TransformRule } from '../../replay/transform/rule.ts'
import { REPORTS } from '../../report/registry.ts'
import { canonicalPace } from './live-options.ts'
import type { ValueType } from './option.ts'
import { checkedText, choiceOf, listOf } from './option-types.ts'
import { readTransformation, readValidationRule } from './replay-rules.ts'

const PACE_VALUES =
  'none, recorded, stepped, a factor such as x2, a delay such as 100ms or a rate such as 50rps'

export const replayPace: ValueType<Timing> = {
  kind: 'value',
  name: 'pace',
  placeholder: 'pace',
  expected: PACE_VALUES,
  parse: parsePace,
  schema: { $ref: '#/$defs/pace' },
  fromConfig: (setting) => {
    if (typeof setting.value === 'function') {
      const delay = setting.function()
      return { kind: 'custom', delay: (previous, next) => Number(delay(previous, next)) }
    }
    const timing = parsePace(String(setting.value))
    if (timing === undefined) throw setting.invalid(`is not a pace (expected ${PACE_VALUES})`)
    return timing
  },
}

/** `none` and `recorded` mean the same as in `serve`; the library calls them `fast` and `original`. */
function parsePace(text: string): Timing | undefined {
  const pace = canonicalPace(text)
  if (pace === 'none') return { kind: 'fast' }
  return pace === 'recorded' ? { kind: 'original' } : parseSpeed(pace)
}

export const transformRules: ValueType<readonly TransformRule[]> = {
  kind: 'value',
  name: 'rule',
  placeholder: 'method:path=value',
  expected: 'method:path=value',
  parse: (given, env) => [parseSetRule(given, env)],
  join: (before, after) => [...before, ...after],
  schema: { type: 'array', items: { $ref: '#/$defs/transformation' } },
  fromConfig: (setting, env) => setting.items().map((item) => readTransformation(item, env)),
}

/** Only a config can hold these rules. */
export const validationRules: ValueType<readonly ValidationRule[]> = {
  kind: 'value',
  name: 'rule',
  placeholder: 'rule',
  expected: 'rules in the config',
  parse: () => undefined,
  schema: { type: 'array', items: { $ref: '#/$defs/validationRule' } },
  fromConfig: (setting) => setting.items().map(readValidationRule),
}

export const responsePath: ValueType<string> = {
  ...checkedText('path', checkResponsePath),
  schema: { $ref: '#/$defs/responsePath' },
  fromConfig: (setting) => {
    setting.as(() => checkResponsePath(setting.text()))
    return setting.text()
  },
}

/** A path that starts anywhere else would match nothing. */
function checkResponsePath(path: string): void {
  const [root] = parsePath(path)
  if (root === 'result' || root === 'error') return
  throw new ReelayError(
    'PATH_INVALID',
    `the path ${JSON.stringify(path)} does not start at "result" or "error"`,
    { hint: 'replay and verify compare responses: write it like result.content[0].text' },
  )
}

/** A share: 0.05 from `5` or `5%` on the command line, from `0.05` or `5%` in the config. */
export const tolerance: ValueType<number> = {
  kind: 'value',
  name: 'percentage',
  placeholder: 'percent',
  expected: 'e.g. 5 or 0.5%',
  parse: (given) => percentage(given.endsWith('%') ? given : `${given}%`),
  schema: { $ref: '#/$defs/share' },
  fromConfig: (setting) => percentage(String(setting.value)) ?? setting.number(),
}

function percentage(text: string): number | undefined {
  const percent = /^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1]
  return percent === undefined ? undefined : Number(percent) / 100
}

export const methodPriority: ValueType<readonly (readonly [method: string, rank: number])[]> = listOf({
  kind: 'value',
  name: 'priority',
  placeholder: 'method=n',
  expected: 'method=number, e.g. tools/call=2',
  parse: (given) => {
    const [, method, rank] = /^([^=]+)=(\d+(?:\.\d+)?)$/.exec(given) ?? []
    return method === undefined ? undefined : ([method, Number(rank)] as const)
  },
})

export const INJECTED_ERRORS: ErrorInjection['errors'] = ['timeout', 'network-error', 'invalid-response']

const injectedError = choiceOf(...INJECTED_ERRORS)

/** One kind of failure, or several separated by commas. */
export const injectedErrors: ValueType<ErrorInjection['errors']> = {
  kind: 'value',
  name: injectedError.name,
  placeholder: 'kinds',
  expected: `${injectedError.expected}, or several separated by commas`,
  parse: (given, env) => {
    const kinds = given.split(',').map((word) => injectedError.parse(word.trim(), env))
    const [first, ...others] = kinds.filter((kind) => kind !== undefined)
    return first === undefined || others.length + 1 < kinds.length ? undefined : [first, ...others]
  },
  join: ([first, ...others], after) => [first, ...others, ...after],
}

/** A report format, and the file that it is written to; without a file it is printed. */
export type ReportRequest = readonly [format: string, path?: string]

const FORMATS = REPORTS.replay.map(({ name }) => name)

/** The formats as help lists them. */
export const REPORT_FORMATS: string = REPORTS.replay.map(({ name, help }) => `${name} (${help})`).join(', ')

export const reportRequest: ValueType<ReportRequest> = {
  kind: 'value',
  name: 'report',
  placeholder: 'format[=file]',
  expected: `${FORMATS.join(', ')}, or a format and a file such as json=report.json`,
  parse: (given) => {
    const [, format = '', path] = /^([^=]+)(?:=(.+))?$/s.exec(given) ?? []
    if (!FORMATS.includes(format)) return undefined
    return path === undefined ? [format] : [format, path]
  },
}
