import { canonicalJson } from '../../json/canonical.ts'
import { findRange, replaceValue, decodeLeaf, jsonLeaves } from '../../json/find-replace.ts'
import { parseJson, isObject, member } from '../../json/parse.ts'
import type { JsonRange } from '../../json/scan.ts'
import { type PathPattern, EVERY_ITEM, type PathSegment } from '../../json/path.ts'
import { classifyMessage } from '../../protocol/message.ts'
import { editText } from '../../json/edit-text.ts'
import type { TransformAction, TransformSubject, TransformRule, TransformCondition } from './rule.ts'

/** A message after the rules were applied. */
export interface TransformedMessage {
  readonly text: string
  readonly applied: readonly string[]
  /** Milliseconds to wait before sending. */
  readonly delay: number
  /** Used as the answer; the message is not sent. */
  readonly error: { readonly code: number; readonly message: string } | undefined
  /** The id that a rule set; by default the message gets a new one. */
  readonly id: string | number | undefined
  /** Gets a new id even if recorded ids are sent. */
  readonly isRenewed?: true
  /** Timestamps that a rule set. `--update-timestamps` does not shift them. */
  readonly setTimes?: readonly string[]
}

/** Applies the rules to a message of the client in their order. Each rule sees the changes of those before it. */
export function applyRules(
  text: string,
  passing: Omit<TransformSubject, 'message'>,
  rules: readonly TransformRule[],
  now: () => Date = () => new Date(),
): TransformedMessage {
  let result: TransformedMessage = { text, applied: NO_RULES, delay: 0, error: undefined, id: undefined }
  for (const { name, when, action } of rules) {
    const message = classifyMessage(parseJson(result.text))
    if (!conditionHolds(when, { ...passing, message })) continue
    result = { ...applyAction(result, action, now), applied: [...result.applied, name] }
  }
  return result
}

const NO_RULES: readonly string[] = []

/** Applies the rules that change answers. */
export function applyAnswerRules(
  answer: string,
  passing: TransformSubject,
  rules: readonly TransformRule[],
): string {
  return rules.reduce((text, { when, action }) => {
    if (action.kind !== 'set-result' || !conditionHolds(when, passing)) return text
    return edited(text, 'result', action.path, () => action.value)
  }, answer)
}

function applyAction(
  result: TransformedMessage,
  action: TransformAction,
  now: () => Date,
): TransformedMessage {
  const { text } = result
  switch (action.kind) {
    case 'set-param':
      return { ...result, text: edited(text, 'params', action.path, () => action.value) }
    case 'remove-param':
      return { ...result, text: edited(text, 'params', action.path, () => undefined) }
    case 'replace-param':
      return { ...result, text: edited(text, 'params', action.path, (value) => replaced(value, action)) }
    case 'set-timestamp': {
      const date = action.date === undefined ? now() : new Date(action.date)
      return {
        ...result,
        text: edited(text, 'params', action.path, (value) => timestamp(value, date)),
        setTimes: [...(result.setTimes ?? []), date.toISOString()],
      }
    }
    case 'rename-method':
      return { ...result, text: replaceValue(text, ['method'], JSON.stringify(action.to)) }
    case 'map-id':
      return idOf(text) === action.from ? { ...result, id: action.to } : result
    case 'delay':
      return { ...result, delay: result.delay + action.by }
    case 'inject-error':
      return { ...result, error: { code: action.code, message: action.message } }
    case 'regenerate-id':
      return { ...result, id: undefined, isRenewed: true }
    case 'set-result': // applies to the answer
      return result
  }
}

function edited(
  text: string,
  name: 'params' | 'result',
  path: PathPattern,
  change: (value: unknown) => unknown,
): string {
  if (!isObject(parseJson(text))) return text
  const range = findRange(text, [name])
  const json = editText(range && text.slice(range.start, range.end), path, change)
  if (range !== undefined) return replaceValue(text, [name], json ?? '{}')
  return name === 'params' && json !== undefined
    ? `${text.slice(0, text.lastIndexOf('}'))},"params":${json}}`
    : text
}

function replaced(
  value: unknown,
  { pattern, replacement }: Extract<TransformAction, { kind: 'replace-param' }>,
): unknown {
  return typeof value === 'string' ? value.replace(pattern, replacement) : value
}

function timestamp(value: unknown, date: Date): unknown {
  return typeof value === 'number' ? date.getTime() : date.toISOString()
}

function idOf(text: string): unknown {
  return member(parseJson(text), 'id')
}

function conditionHolds(condition: TransformCondition, passing: TransformSubject): boolean {
  const { message, index, tool } = passing
  switch (condition.kind) {
    case 'always':
      return true
    case 'method':
      return 'method' in message && message.method === condition.equals
    case 'message-type':
      return message.kind === condition.equals
    case 'index':
      return index === condition.equals
    case 'tool':
      return tool === condition.equals
    case 'path':
      return 'params' in message && hasAt(message.params, condition)
    case 'custom':
      return condition.test(passing)
  }
}

function hasAt(params: unknown, condition: Extract<TransformCondition, { kind: 'path' }>): boolean {
  const found = valuesAtRulePath(params, condition.path)
  if (!('equals' in condition)) return found.length > 0
  const wanted = canonicalJson(condition.equals)
  return found.some((value) => canonicalJson(value) === wanted)
}

/** All values at a path. */
function valuesAtRulePath(value: unknown, path: PathPattern): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (found, segment) => found.flatMap((one) => childrenAt(one, segment)),
    [value],
  )
}

function childrenAt(value: unknown, segment: PathSegment): readonly unknown[] {
  if (segment === EVERY_ITEM) return Array.isArray(value) ? value : []
  if (typeof segment === 'number')
    return Array.isArray(value) && segment < value.length ? [value[segment]] : []
  return isObject(value) && Object.hasOwn(value, segment) ? [value[segment]] : []
}

/** Shifts the timestamps in the params by a number of milliseconds and keeps all other bytes. Those in `current` are not shifted. */
export function shiftTimestamps(text: string, by: number, current: ReadonlySet<string> = NO_TIMES): string {
  const range = findRange(text, ['params'])
  if (range === undefined) return text
  const params = text.slice(range.start, range.end)
  return text.slice(0, range.start) + moved(params, by, current) + text.slice(range.end)
}

const NO_TIMES: ReadonlySet<string> = new Set()

function moved(json: string, by: number, current: ReadonlySet<string>): string {
  let [written, at] = ['', 0]
  for (const { start, end } of jsonLeaves(json)) {
    const value = timeAt(json, { start, end })
    if (value === undefined || current.has(value)) continue
    written += json.slice(at, start) + JSON.stringify(movedTime(value, by))
    at = end
  }
  return written + json.slice(at)
}

/** The timestamps in the params of a message. */
export function timestampsIn(text: string): ReadonlySet<string> {
  const range = findRange(text, ['params'])
  const params = range === undefined ? '{}' : text.slice(range.start, range.end)
  return new Set([...jsonLeaves(params)].flatMap((leaf) => timeAt(params, leaf) ?? []))
}

function timeAt(json: string, leaf: JsonRange): string | undefined {
  const value = json[leaf.start] === '"' ? decodeLeaf(json, leaf) : ''
  return POINT_IN_TIME.test(value) ? value : undefined
}

const POINT_IN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

function movedTime(text: string, by: number): string {
  const time = Date.parse(text)
  return Number.isNaN(time) ? text : new Date(time + by).toISOString()
}
