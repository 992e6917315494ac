import type { Notification, Request } from '../../protocol/message.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import type { SendDecision } from '../plan/plan-columns.ts'
import type { ReplayStep } from '../steps/step.ts'
import type { BreakpointSubject } from './breakpoints.ts'
import type { ExtraMessageEvent, MessageOutline, MessageView, StatusEvent } from './commands.ts'
import { isEdited, type PendingEdit } from './message-edit.ts'

/** A run as its controller sees it: what is on the tape, what became of it so far, and how to send more. */
export interface ControlledRun {
  /** The number of messages of the recorded client, with the handshake. */
  readonly total: number
  messageAt(index: number): PlannedMessage
  outlineAt(index: number): MessageOutline
  decisionOf(index: number): SendDecision
  /** The step of a message that is done; `undefined` if it is not. */
  stepAt(index: number): ReplayStep | undefined
  /** Returns true for a message that was sent and is not done. */
  isOpen(index: number): boolean
  /** Returns why the safety rule holds a message back; `undefined` if it may be sent. */
  holdReason(message: Request | Notification, tool: string | undefined): string | undefined
  /** The text that would be sent now. Values that are not known are the recorded ones. */
  textOf(planned: PlannedMessage): string
  viewOf(index: number, edit?: PendingEdit): MessageView
  /** What breakpoints are compared with before a message is sent, and after its response. */
  subjectBefore(planned: PlannedMessage): BreakpointSubject
  subjectOf(step: ReplayStep, planned: PlannedMessage): BreakpointSubject
  /** Sends a message again and judges the new response. It is not part of the report. `onSend` is called if it is allowed. */
  resend(planned: PlannedMessage, edit: PendingEdit | undefined, onSend: () => void): Promise<ReplayStep>
  /** Sends a message that is not on the tape, in the session of the message near it. */
  inject(
    text: string,
    near: PlannedMessage,
    onSend: () => void,
  ): Promise<Omit<ExtraMessageEvent, 'type' | 'message'>>
  /** The numbers of a status event. `next` is the index of the next message. */
  facts(next: number): RunFigures
}

export interface RunFigures {
  readonly progress: {
    /** Messages that are not sent because Reelay does the handshake itself. */
    readonly handshakes: number
    /** Milliseconds of the tape: at the next message, and at the end. */
    readonly at: number
    readonly ended: number
  }
  readonly open: StatusEvent['open']
  readonly counts: Omit<StatusEvent['counts'], 'differences' | 'resent' | 'injected'>
  readonly metrics: Omit<StatusEvent['metrics'], 'throughput'>
}

/** The part of a view that a step determines. */
export type ShownStep = Pick<
  MessageView,
  'request' | 'isEdited' | 'response' | 'state' | 'why' | 'duration' | 'recordedDuration' | 'findings'
>

export function shownStep(step: ReplayStep): ShownStep {
  const { sent, answer, state, why, duration, recordedDuration, findings, transformedBy } = step
  return {
    request: sent,
    isEdited: isEdited({ why, transformedBy }),
    response: answer,
    state,
    why,
    duration,
    recordedDuration,
    findings,
  }
}
