import type { Id } from '../wire/id.ts'
import type { Aside, CallEnd } from './live-call.ts'
import type { Planned } from './plan.ts'
import { NOT_AWAITED, type StepResult, type StepState } from './step-result.ts'
import type { Finding } from './verdict/finding.ts'
import type { Judged } from './verdict/judged.ts'
import type { Unbound } from './carrier.ts'

/** What came of a request that was sent. */
export interface Heard {
  readonly end: CallEnd
  readonly id: Id
  /** What was to be sent, before it got its own names; and what was. */
  readonly bound: string
  readonly sent: string
  readonly sentAt: number
  readonly endedAt: number | undefined
  readonly asides: readonly Aside[]
  /** Requests of the server that only came at another time. */
  readonly moved: ReadonlySet<string>
  /** Nothing was sent: the user wanted it to go wrong. */
  readonly isInjected?: true
}

export function notSent(
  planned: Planned,
  state: 'skipped' | 'held' | 'unbound',
  why: string,
  unbound: readonly Unbound[] = [],
): StepResult {
  return { ...blank(planned), state, why, findings: unbound.map(asFinding) }
}

/** A notification that went out. */
export function handedOn(planned: Planned, sent: string, sentAt: number): StepResult {
  return { ...blank(planned), sent, sentAt }
}

export function answered(
  planned: Planned,
  { end, sent, sentAt, isInjected }: Heard,
  past: Pick<StepResult, 'findings' | 'judgedBy' | 'transformedBy' | 'retries'> & { readonly judged: Judged },
): StepResult {
  const { judged, findings, judgedBy, transformedBy, retries } = past
  const { index, turn, message, tool } = planned
  return {
    index,
    frame: turn.trigger?.n ?? 0,
    method: message.method,
    recordedId: message.kind === 'request' ? message.id : undefined,
    tool,
    state: STATES[end.kind],
    why: saidOf(whyOf(end), isInjected),
    sent,
    answer: end.kind === 'answered' ? end.text : undefined,
    recordedAnswer: turn.response?.text,
    sentAt,
    duration: judged.duration,
    recordedDuration: judged.recordedDuration,
    retries,
    ...(isInjected && { isInjected }),
    findings: isInjected ? findings.map(asInjected) : findings,
    judgedBy,
    transformedBy,
  }
}

function asInjected(finding: Finding): Finding {
  return { ...finding, message: saidOf(finding.message, true) }
}

function saidOf<Text extends string | undefined>(text: Text, isInjected: true | undefined): Text | string {
  return isInjected && text !== undefined ? `injected: ${text}` : text
}

const STATES: Readonly<Record<CallEnd['kind'], StepState>> = {
  answered: 'done',
  open: 'done',
  timeout: 'timeout',
  lost: 'lost',
  'given-up': 'lost',
}

function whyOf(end: CallEnd): string | undefined {
  if (end.kind === 'lost') return end.why
  if (end.kind === 'given-up') return NOT_AWAITED
  return end.kind === 'timeout' ? `no answer within ${end.after} ms` : undefined
}

/** A step of which nothing is known yet. */
export function blank({ index, turn, message, tool }: Planned): StepResult {
  return {
    index,
    frame: turn.trigger?.n ?? 0,
    method: message.method,
    recordedId: message.kind === 'request' ? message.id : undefined,
    tool,
    state: 'done',
    why: undefined,
    sent: undefined,
    answer: undefined,
    recordedAnswer: turn.response?.text,
    sentAt: undefined,
    duration: undefined,
    recordedDuration: undefined,
    retries: 0,
    findings: [],
    judgedBy: [],
    transformedBy: [],
  }
}

function asFinding({ path, recorded, why, isSilent }: Unbound): Finding {
  const message = `UNBOUND_HANDLE: ${why}`
  return { layer: 'values', level: isSilent ? 'warn' : 'error', message, path, expected: recorded }
}
