import type { JsonPath } from '../../json/path.ts'
import { distinctnessOf } from '../../bindings/values.ts'
import type { ReplayPlan } from '../plan/plan.ts'
import type { TapeHeader } from '../../tape/header.ts'
import type { ServerPart } from '../plan/server-part.ts'
import type { ToolDescriptions } from '../plan/tool-safety.ts'
import type { IsLiveValue } from '../../diff/noise/noise-kind.ts'
import type { LiveSecrets } from '../session/live-secrets.ts'
import type { Peer } from '../session/peer.ts'
import type { CarriedValues } from '../values/carried-values.ts'
import type { JudgeOptions } from './comparison-rules.ts'
import type { IdentityJudge } from './identity.ts'
import { isErrorJudge } from './is-error.ts'
import type { Judges } from './judge.ts'
import { jsonRpcJudge } from './json-rpc.ts'
import { NotificationsJudge } from './notifications.ts'
import { orderJudge } from './order.ts'
import { officialSchemaJudges, OutputSchemaJudge } from './schema.ts'
import { ServerRequestJudge } from './server-requests.ts'
import { timingJudge } from './timing.ts'
import { transportJudge } from './transport.ts'
import { ValuesJudge } from './values.ts'

interface JudgesContext {
  readonly options: JudgeOptions
  readonly part: ServerPart
  readonly plan: ReplayPlan
  readonly peer: Peer
  readonly identity: IdentityJudge
  readonly tools: ToolDescriptions
  readonly values: CarriedValues
  readonly secrets: LiveSecrets | undefined
  /** When and in which zone the recording started. */
  readonly header: Pick<TapeHeader, 'started' | 'utcOffsets'>
  readonly now: () => number
}

/** The list of all judges. */
export function createJudges({
  options,
  part,
  plan,
  peer,
  identity,
  tools,
  values,
  secrets,
  header: { started, utcOffsets },
  now,
}: JudgesContext): Judges {
  // A timestamp of the recording and one of this run both mean the current time, so they are not a difference.
  const [from, began] = [Date.parse(started), Date.now() - now()]
  const clock = {
    recorded: { from, to: from + plan.ended },
    live: () => ({ from: began, to: Date.now() }),
    ...(utcOffsets && { offsets: { recorded: utcOffsets } }),
  }
  const isLiveValue: IsLiveValue = (expected, actual, path) =>
    (values.explains(expected, actual, path) &&
      (values.isBoundByUser(expected) || !isOtherName(expected, actual, path))) ||
    secrets?.differsInPlaceholders?.(expected, actual) === true
  const rules = new ValuesJudge({ judging: options, isLiveValue, clock })
  const official = officialSchemaJudges({
    use: options.officialSchema ?? 'changed',
    revisions: peer.revisions,
    turns: part.turns,
    onNote: (note) => peer.notes.push(note),
  })
  const list = [
    identity,
    transportJudge,
    jsonRpcJudge,
    isErrorJudge,
    new OutputSchemaJudge(tools),
    official.answers,
    rules,
    official.messages,
    new ServerRequestJudge({
      judging: options,
      isLiveValue,
      clock,
      isUnknown: (request) => peer.isUnrecorded(request),
    }),
    orderJudge,
    new NotificationsJudge(rules),
    timingJudge(options.slower),
  ]
  return {
    list: options.validate === false ? [] : list,
    isStrict: options.strict === true,
    values,
    firstHeld: firstHeldIndex(plan),
    cancelled: plan.cancelled,
    rules,
  }
}

/**
 * Returns true if a value may be a name that the server gave to something, although the client sent it back: it differs from the recorded
 * one only in words without digits, or is in a list of what the server offers. Only other runs can show that such a name is generated.
 */
function isOtherName(expected: unknown, actual: unknown, path: JsonPath): boolean {
  if (typeof expected !== 'string' || typeof actual !== 'string') return false
  const [ours, theirs] = [wordsOf(expected), wordsOf(actual)]
  const isOffered = path[0] === 'result' && OFFERED.has(path[1]) && !LONG_ID.test(expected)
  if (ours.length !== theirs.length) return isOffered || !/\d/.test(expected + actual)
  return ours.every((word, at) => {
    const live = theirs[at] ?? ''
    return word === live || (isOffered ? !areOtherIds(word, live) : !/\d/.test(word + live))
  })
}

const OFFERED: ReadonlySet<unknown> = new Set(['tools', 'prompts', 'resources', 'resourceTemplates'])

const LONG_ID = /[\da-f]{8}(?:-?[\da-f]{4}){2}/i

/** Returns true if both words look generated, and one is not a version of the other, as `v1beta3` is of `v1beta2`. */
function areOtherIds(recorded: string, live: string): boolean {
  const common = recorded.split('').filter((letter, at) => letter === live[at]).length
  return [recorded, live].every((word) => distinctnessOf(word) === 'strong') && common * 2 <= recorded.length
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[^\p{L}\p{N}]+/u)
}

function firstHeldIndex(plan: ReplayPlan): number {
  for (let index = 0; index < plan.size; index++) if (plan.decisionOf(index).kind === 'hold') return index
  return Infinity
}
