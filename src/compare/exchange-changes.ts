import { createDiffer, type Differ } from '../diff/diff.ts'
import type { Difference, ChangedPart } from '../diff/difference.ts'
import { separateNoise } from '../diff/noise/index.ts'
import type { NoiseContext, SessionTimes } from '../diff/noise/noise-kind.ts'
import { member } from '../json/parse.ts'
import { formatPath } from '../json/path.ts'
import { shortenValue } from '../match/describe-request.ts'
import { comparedParams } from '../match/request-key.ts'
import { calledTool, META_KEYS, type Response } from '../protocol/message.ts'
import { clientCallOf, type Turn } from '../tape/turns.ts'
import { truncateText } from '../text.ts'
import { outcomeText } from '../replay/judge/judge.ts'
import type { CarriedRenames } from './carried-renames.ts'
import { finding, type CompareRuleId, type Finding } from './rules.ts'
import { isSurfaceMethod } from './surface.ts'

/** Why differences do not count, and how many of them. */
export type FoldedCounts = Record<FoldedReason, number>
export type FoldedReason = 'carried' | 'clock' | 'profile' | 'moved'

export interface ExchangeComparison {
  readonly findings: readonly Finding[]
  readonly folded: FoldedCounts
}

export interface ComparisonContext {
  readonly renames: CarriedRenames
  readonly clock: SessionTimes
  /** Returns true if the noise profile of the earlier tape explains a difference in the response to this exchange. */
  readonly isProfiled: (exchange: number | undefined, difference: Difference) => boolean
  /** Returns true if results of the tool may lack the member at a path, or have the type of `value` there. */
  readonly isOptional: (turn: Turn, difference: Difference) => boolean
  /** Returns true if the two tapes have the same number of messages of the server with this method. */
  readonly isAsFrequent: (method: string) => boolean
}

const DIFFER: Differ = createDiffer({ order: 'reported' })

/** Returns true if two responses have the same text except for their ids. */
export function haveSameOutcome(before: Turn, after: Turn): boolean {
  const [then, now] = [before.response?.text, after.response?.text]
  if (then === now) return true
  if (then === undefined || now === undefined) return false
  return outcomeOf(then) === outcomeOf(now)
}

/** Returns true if nothing in two exchanges differs, without comparing values. */
export function isSameExchange(before: Turn, after: Turn): boolean {
  const areSteps = before.steps.length <= 1 && after.steps.length <= 1
  return (
    areSteps &&
    haveSameOutcome(before, after) &&
    (before.trigger?.text === after.trigger?.text || requestDifferences(before, after).length === 0)
  )
}

/** The raw differences between two responses. Paths begin with `result` or `error`. */
export function responseDifferences(before: Turn, after: Turn): readonly Difference[] {
  const [then, now] = [outcomeOf(before.response?.text), outcomeOf(after.response?.text)]
  if (then === undefined || now === undefined || then === now) return []
  return DIFFER.texts(then, now).filter(({ path }) => !isProtocolMeta(path))
}

export function requestDifferences(before: Turn, after: Turn): readonly Difference[] {
  const [then, now] = [before, after].map(({ trigger }) => {
    const call = clientCallOf(trigger)
    return call === undefined ? {} : { params: comparedParams(call) ?? {} }
  })
  return DIFFER.values(then, now)
}

/** Compares two exchanges. Differences that are carried values, times or known noise are counted, not reported. */
export function compareExchanges(before: Turn, after: Turn, context: ComparisonContext): ExchangeComparison {
  const subject = callText(before)
  const folded: FoldedCounts = { carried: 0, clock: 0, profile: 0, moved: 0 }
  const findings: Finding[] = []
  const sent = separate(requestDifferences(before, after), before, context, folded)
  for (const difference of sent)
    findings.push(
      differenceFinding('request-changed', subject, difference, describeRequestChange(difference)),
    )
  const outcome = outcomeFinding(before, after, subject)
  if (outcome !== undefined) findings.push(outcome)
  if ((outcome === undefined || outcome.rule === 'error-code-changed') && !isSurfaceMethod(methodOf(before)))
    for (const difference of separate(responseDifferences(before, after), before, context, folded))
      if (!isErrorFlag(difference)) findings.push(...responseFinding(difference, before, subject, context))
  findings.push(...stepFindings(before, after, { subject, context, folded }))
  return { findings, folded }
}

function separate(
  differences: readonly Difference[],
  before: Turn,
  { renames, clock, isProfiled }: ComparisonContext,
  folded: FoldedCounts,
): readonly Difference[] {
  if (differences.length === 0) return differences
  const noise: NoiseContext = {
    differ: DIFFER,
    isLiveValue: renames.isCarried,
    clock,
    learned: { explains: (difference) => isProfiled(before.exchange, difference) },
  }
  const { kept, suppressed } = separateNoise(differences, noise)
  for (const { noise: name } of suppressed) folded[FOLDED_BY[name] ?? 'carried']++
  return kept
}

const FOLDED_BY: Readonly<Record<string, FoldedReason>> = { clock: 'clock', learned: 'profile' }

/** The call of an exchange, such as `tools/call search`. */
export function callText(turn: Turn): string {
  const call = clientCallOf(turn.trigger)
  if (call === undefined) return ''
  const target = calledTool(call) ?? member(call.params, 'name') ?? member(call.params, 'uri')
  return typeof target === 'string' ? `${call.method} ${target}` : call.method
}

function methodOf({ trigger }: Turn): string {
  return trigger !== undefined && 'method' in trigger.message ? trigger.message.method : ''
}

function responseOf({ response }: Turn): Response | undefined {
  return response?.message.kind === 'response' ? response.message : undefined
}

/** Both fail, one with a JSON-RPC error and the other with the result of a tool. */
function errorForms(then: Response, now: Response): readonly [string, string] | undefined {
  const [before, after] = [then, now].map((response) => {
    const error = errorOf(response)
    if (error !== undefined) return { isRpc: true, text: `JSON-RPC error ${errorText(error)}` }
    const hasFlag = 'result' in response.outcome && member(response.outcome.result, 'isError') === true
    return hasFlag ? { isRpc: false, text: 'a result with isError' } : undefined
  })
  return before === undefined || after === undefined || before.isRpc === after.isRpc
    ? undefined
    : [before.text, after.text]
}

/** What differs in the kind of an outcome. Then the contents are not compared, because they have nothing in common. */
function outcomeFinding(before: Turn, after: Turn, subject: string): Finding | undefined {
  const [then, now] = [responseOf(before), responseOf(after)]
  if (then === undefined || now === undefined) {
    if (then === now || (before.cut ?? after.cut) !== undefined) return undefined
    return finding(now === undefined ? 'response-lost' : 'response-appeared', { subject })
  }
  const [oldError, newError] = [errorOf(then), errorOf(now)]
  const form = errorForms(then, now)
  if (form !== undefined)
    return finding(oldError === undefined ? 'tool-error-to-error' : 'error-form-changed', {
      subject,
      message: `failed with ${form[0]}, and now fails with ${form[1]}`,
    })
  if (oldError === undefined && newError !== undefined)
    return finding('success-to-error', {
      subject,
      message: `succeeded, and now fails with ${errorText(newError)}`,
      path: 'error',
      after: shortenValue(newError),
    })
  if (oldError !== undefined && newError === undefined)
    return finding('error-to-success', {
      subject,
      message: `failed with ${errorText(oldError)}, and now succeeds`,
    })
  if (oldError !== undefined && newError !== undefined) {
    const [code, other] = [member(oldError, 'code'), member(newError, 'code')]
    if (code === other) return undefined
    return finding('error-code-changed', {
      subject,
      message: `fails with ${errorText(newError)}, before with ${errorText(oldError)}`,
      path: 'error.code',
      before: code,
      after: other,
    })
  }
  const [failed, fails] = [isToolError(then), isToolError(now)]
  if (failed === fails) return undefined
  const message = fails
    ? `succeeded, and now reports an error: ${firstText(now)}`
    : `reported an error, and now succeeds: ${firstText(now)}`
  return finding(fails ? 'tool-error-appeared' : 'tool-error-gone', {
    subject,
    message,
    path: 'result.isError',
  })
}

function errorOf({ outcome }: Response): unknown {
  return 'error' in outcome ? outcome.error : undefined
}

function isToolError({ outcome }: Response): boolean {
  return 'result' in outcome && member(outcome.result, 'isError') === true
}

/** Whether a tool failed has been compared: `isError` may be left out if it is false. */
function isErrorFlag({ path: [root, name, ...rest] }: Difference): boolean {
  return root === 'result' && name === 'isError' && rest.length === 0
}

function errorText(error: unknown): string {
  return `${String(member(error, 'code'))} ${truncateText(JSON.stringify(member(error, 'message') ?? ''), 100)}`
}

function firstText({ outcome }: Response): string {
  const content = 'result' in outcome ? member(outcome.result, 'content') : undefined
  const texts = Array.isArray(content) ? content.map((block) => member(block, 'text')) : []
  return truncateText(JSON.stringify(texts.find((text) => typeof text === 'string') ?? ''), 100)
}

function responseFinding(
  difference: Difference,
  turn: Turn,
  subject: string,
  { isOptional }: ComparisonContext,
): readonly Finding[] {
  const { path } = difference
  if (path[0] === 'error') {
    const isCode = path[1] === 'code'
    return isCode ? [] : [differenceFinding('error-changed', subject, difference)]
  }
  const rule = resultRule(difference)
  const isExpected =
    (rule === 'result-field-removed' || rule === 'result-type-changed') && isOptional(turn, difference)
  const known = rule === 'result-type-changed' ? 'result-value-changed' : 'optional-field-absent'
  return [differenceFinding(isExpected ? known : rule, subject, difference)]
}

function resultRule({ kind, path }: Difference): CompareRuleId {
  const last = path.at(-1)
  switch (kind) {
    case 'added':
      return typeof last === 'number' ? 'result-item-added' : 'result-field-added'
    case 'removed':
      return typeof last === 'number' ? 'result-item-removed' : 'result-field-removed'
    case 'type':
      return 'result-type-changed'
    case 'order':
      return 'result-order-changed'
    case 'format':
      return 'result-format-lost'
    case 'changed':
      return isContentType(path) ? 'content-kind-changed' : 'result-value-changed'
    case 'renamed':
      return 'result-value-changed'
  }
}

/** `result.content[0].type`, and the same in the messages of a prompt. */
function isContentType(path: Difference['path']): boolean {
  const [root, list] = path
  const last = path.at(-1)
  if (root !== 'result' || last !== 'type') return false
  return (list === 'content' && path.length === 4) || (list === 'messages' && path.at(-2) === 'content')
}

function differenceFinding(
  rule: CompareRuleId,
  subject: string,
  difference: Difference,
  message = describeDifference(difference),
): Finding {
  const { path, kind } = difference
  const hasValues = kind !== 'order'
  return finding(rule, {
    subject,
    message,
    path: formatPath(path),
    ...(hasValues && 'expected' in difference && { before: shortenValue(difference.expected) }),
    ...(hasValues && 'actual' in difference && { after: shortenValue(difference.actual) }),
  })
}

function describeRequestChange({ kind }: Difference): string {
  if (kind === 'added') return 'the call has a new argument'
  return kind === 'removed' ? 'the call has no longer this argument' : 'the call was made with another value'
}

function describeDifference({ kind, parts, format, expected }: Difference): string {
  switch (kind) {
    case 'added':
      return 'is new'
    case 'removed':
      return 'is gone'
    case 'type':
      return 'has another type'
    case 'order':
      return `the ${Array.isArray(expected) ? expected.length : ''} items come in another order`.replace(
        '  ',
        ' ',
      )
    case 'format':
      return `is no longer valid ${format?.name ?? 'text of its format'}`
    case 'renamed':
      return 'a member has another name'
    case 'changed':
      return partsText(parts) ?? 'has another value'
  }
}

function partsText(parts: readonly ChangedPart[] | undefined): string | undefined {
  const [first] = parts ?? []
  if (parts === undefined || first === undefined) return undefined
  const more = parts.length > 1 ? `, and ${parts.length - 1} more changes` : ''
  return `in line ${first.line}: ${quoted(first.expected)} is now ${quoted(first.actual)}${more}`
}

function quoted(text: string): string {
  return JSON.stringify(truncateText(text, 60))
}

/** Compares what the server sent before its response: questions to the client, and notifications. */
function stepFindings(
  before: Turn,
  after: Turn,
  {
    subject,
    context,
    folded,
  }: { readonly subject: string; readonly context: ComparisonContext; readonly folded: FoldedCounts },
): readonly Finding[] {
  if (before.steps.length <= 1 && after.steps.length <= 1) return []
  const [then, now] = [methodCounts(before), methodCounts(after)]
  const findings: Finding[] = []
  // Which call such a message falls into is a matter of timing.
  const isMoved = (method: string): boolean => {
    const hasMoved = BELONGS_TO_NO_CALL.test(method) && context.isAsFrequent(method)
    if (hasMoved) folded.moved++
    return hasMoved
  }
  for (const method of new Set([...then.asked.keys(), ...now.asked.keys()])) {
    const [was, is] = [then.asked.get(method) ?? 0, now.asked.get(method) ?? 0]
    if (was === is || isMoved(method)) continue
    findings.push(
      finding(is > was ? 'server-request-added' : 'server-request-removed', {
        subject,
        message: `the server sends ${method} ${timesText(is)} during the call, before ${timesText(was)}`,
        before: was,
        after: is,
      }),
    )
  }
  for (const method of new Set([...then.notified.keys(), ...now.notified.keys()])) {
    const [was, is] = [then.notified.get(method) ?? 0, now.notified.get(method) ?? 0]
    if (was === is || isMoved(method)) continue
    const message = `the server sends ${method} ${timesText(is)} during the call, before ${timesText(was)}`
    findings.push(finding('notifications-changed', { subject, message, before: was, after: is }))
  }
  return findings
}

const BELONGS_TO_NO_CALL =
  /^(?:ping|roots\/list|notifications\/(?:message|resources\/updated|(?:tools|prompts|resources|roots)\/list_changed))$/

function timesText(count: number): string {
  if (count === 0) return 'never'
  return count === 1 ? 'once' : `${count} times`
}

function methodCounts({ steps }: Turn): { asked: Map<string, number>; notified: Map<string, number> } {
  const counts = { asked: new Map<string, number>(), notified: new Map<string, number>() }
  for (const step of steps) {
    if (step.kind === 'respond') continue
    const { message } = step.kind === 'ask' ? step.request : step.message
    if (!('method' in message)) continue
    const list = step.kind === 'ask' ? counts.asked : counts.notified
    list.set(message.method, (list.get(message.method) ?? 0) + 1)
  }
  return counts
}

/** The protocol's own metadata, such as the name of the server, which the comparison of what servers offer covers. */
function isProtocolMeta([root, meta, key]: Difference['path']): boolean {
  return root === 'result' && meta === '_meta' && PROTOCOL_META_KEYS.has(String(key))
}

const PROTOCOL_META_KEYS: ReadonlySet<string> = new Set([META_KEYS.serverInfo, META_KEYS.subscriptionId])

function outcomeOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : outcomeText(text)
}
