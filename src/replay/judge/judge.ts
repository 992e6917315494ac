import type { IsLiveValue, SessionTimes } from '../../diff/noise/noise-kind.ts'
import type { ReplayPlan } from '../plan/plan.ts'
import type { ServerPart } from '../plan/server-part.ts'
import type { ToolDescriptions } from '../plan/tool-safety.ts'
import type { SentMessage, SentRequest } from '../send/send-message.ts'
import type { Peer } from '../session/peer.ts'
import {
  type AcceptedAnswer,
  NO_NAMES,
  notificationStep,
  type ReplayStep,
  requestStep,
  unsentStep,
} from '../steps/step.ts'
import type { CarriedValues } from '../values/carried-values.ts'
import type { JudgeOptions } from './comparison-rules.ts'
import { isErrorJudge } from './is-error.ts'
import { jsonRpcJudge } from './json-rpc.ts'
import {
  type Judge,
  type JudgedAnswer,
  NO_FINDINGS,
  type StepFinding,
  toJudgedAnswer,
} from './judged-answer.ts'
import { OfficialSchemas } from './official-schema.ts'
import { orderJudge } from './order.ts'
import { OutputSchemaJudge } from './output-schema.ts'
import { ServerRequestJudge } from './server-requests.ts'
import { timingJudge } from './timing.ts'
import { transportJudge } from './transport.ts'
import { ValuesJudge } from './values.ts'
import type { Turn } from '../../tape/turns.ts'
import { decodeLeaf, findRange, replaceValue } from '../../json/find-replace.ts'
import type { JsonPath } from '../../json/path.ts'
import type { ValueLocation } from '../../bindings/binding.ts'
import { writeLocation } from '../../bindings/location.ts'
import { createDiffer } from '../../diff/diff.ts'
import { withRecordedInputs } from '../session/input-rounds.ts'

interface JudgesContext {
  readonly options: JudgeOptions
  readonly part: ServerPart
  readonly plan: ReplayPlan
  readonly peer: Peer
  readonly tools: ToolDescriptions
  readonly values: CarriedValues
  /** When the recording started. */
  readonly started: string
  readonly now: () => number
}

/** The judges of a run, in the order in which they look at an answer. */
export interface Judges {
  readonly list: readonly Judge[]
  readonly options: JudgeOptions
  readonly carried: CarriedValues
  readonly values: ValuesJudge
}

export function createJudges(context: JudgesContext): Judges {
  const { options, part, peer, tools, values: carried } = context
  const use = options.validate === false ? 'off' : (options.officialSchema ?? 'changed')
  const official = new OfficialSchemas({
    use,
    revisions: peer.revisions,
    turns: part.turns,
    onNote: (note) => peer.notes.push(note),
  })
  const isLiveValue: IsLiveValue = (expected, actual, path) => carried.explains(expected, actual, path)
  const values = new ValuesJudge({ judging: options, isLiveValue, clock: sessionTimes(context) })
  const list = [
    transportJudge,
    jsonRpcJudge,
    isErrorJudge,
    new OutputSchemaJudge(tools),
    official.answers,
    values,
    official.messages,
    new ServerRequestJudge({
      judging: options,
      isLiveValue,
      isUnknown: (request) => peer.isUnrecorded(request),
    }),
    orderJudge,
    timingJudge(options.slower),
  ]
  return { list, options, carried, values }
}

/** A timestamp of the recording and one of this run both mean the current time, so they are not a difference. */
function sessionTimes({ started, now, plan: { ended } }: JudgesContext): SessionTimes {
  const [from, began] = [Date.parse(started), Date.now() - now()]
  return { recorded: { from, to: from + ended }, live: () => ({ from: began, to: Date.now() }) }
}

/** Makes the step of a message, with what the judges find in its answer. */
export function judgeMessage(sent: SentMessage, judges: Judges): ReplayStep {
  switch (sent.kind) {
    case 'unsent':
      return unsentStep(sent)
    case 'notified':
      return notificationStep(sent)
    case 'requested':
      return judgeRequest(sent, judges)
  }
}

function judgeRequest(sent: SentRequest, judges: Judges): ReplayStep {
  const { planned, end, asides, moved, sentAt, endedAt, isInjected } = sent
  const { turn, tool } = planned
  const duration = endedAt === undefined ? undefined : endedAt - sentAt
  const answer = toJudgedAnswer({ turn, tool, end, asides, moved, duration })
  const isJudged = judges.options.validate !== false && end.kind !== 'given-up'
  const findings = isJudged ? findingsIn(answer, judges) : NO_FINDINGS
  // An answer that is not a response, or that a fault made up, must not get on the tape.
  const isReal = answer.live !== undefined && isInjected !== true
  const hasAcceptable = end.kind === 'answered' && isReal && findings.length > 0
  return requestStep(sent, {
    findings,
    judgedBy: isJudged ? judges.values.namesFor(answer) : NO_NAMES,
    duration,
    recordedDuration: answer.recordedDuration,
    acceptable: hasAcceptable ? acceptedAnswer(turn, end.text, judges.carried) : undefined,
  })
}

function findingsIn(answer: JudgedAnswer, { list, options }: Judges): readonly StepFinding[] {
  let found = NO_FINDINGS
  for (const judge of list) {
    const more = judge.judge(answer)
    if (more.length === 0) continue
    found = found.length === 0 ? more : [...found, ...more]
    if (judge.isFinal === true) break
  }
  return options.strict === true ? found.map(asError) : found
}

function asError(finding: StepFinding): StepFinding {
  return finding.level === 'warn' ? { ...finding, level: 'error' } : finding
}

/** Makes the text that `verify --update` writes: the live answer with the recorded id and recorded handles. An item of a batch has no frame, so it cannot be accepted. */
function acceptedAnswer(
  { response }: Turn,
  answer: string,
  values: RecordedValueLookup,
): AcceptedAnswer | undefined {
  if (response === undefined || response.item !== undefined) return undefined
  const id = findRange(response.text, ['id'])
  const named = withRecordedInputs(response.text, answer)
  const text = replaceValue(named, ['id'], response.text.slice(id?.start, id?.end))
  return { frame: response.n, text: values.recorded(withRecordedValues(text, response.text, values)) }
}

type RecordedValueLookup = Pick<CarriedValues, 'explains' | 'recorded'>

/** Restores the recorded values where the live ones are carried values. */
function withRecordedValues(live: string, recorded: string, values: RecordedValueLookup): string {
  return DIFFER.texts(recorded, live).reduce((text, { kind, path, expected, actual }) => {
    const isName = kind === 'changed' && values.explains(expected, actual, path)
    return isName ? (writeLocation(text, locationOf(text, path), String(expected)) ?? text) : text
  }, live)
}

const DIFFER = createDiffer({ order: 'kept' })

/** Splits a path that leads into JSON inside of strings into its parts. */
function locationOf(text: string, path: JsonPath): ValueLocation {
  for (let end = path.length; end > 0; end--) {
    const range = findRange(text, path.slice(0, end))
    if (range === undefined) continue
    if (end === path.length) return { path, inside: [] }
    const inner = locationOf(decodeLeaf(text, range), path.slice(end))
    return { path: path.slice(0, end), inside: [{ kind: 'json', path: inner.path }, ...inner.inside] }
  }
  return { path, inside: [] }
}
