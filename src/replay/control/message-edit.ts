import { ReelayError } from '../../errors.ts'
import { jsonOnOneLine, parseJson } from '../../json/parse.ts'
import { parsePath } from '../../json/path.ts'
import { calledTool, classifyMessage, type Notification, type Request } from '../../protocol/message.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import type { ReplayStep } from '../steps/step.ts'
import { editText } from '../../json/edit-text.ts'
import type { TransformedMessage } from '../transform/transform.ts'
import type { MessageEdit } from './commands.ts'

/** What the user has changed in a message that is about to be sent. */
export interface PendingEdit {
  /** The whole text, except for its id; `undefined` if the text is not changed. */
  readonly text: string | undefined
  readonly isSkipped: boolean
  /** Milliseconds. */
  readonly delay: number
  /** Used as the answer; the message is not sent. */
  readonly error: TransformedMessage['error']
}

/** What an edit needs of a run. */
interface EditedRun {
  /** The text that would be sent now. Values that are not known are the recorded ones. */
  textOf(planned: PlannedMessage): string
  /** Returns why the safety rule holds a message back; `undefined` if it may be sent. */
  holdReason(message: Request | Notification, tool: string | undefined): string | undefined
}

/** Adds a change to those so far. Throws a `ReelayError` if the message would not be valid or not allowed. */
export function applyEdit(
  before: PendingEdit = NO_EDIT,
  action: MessageEdit,
  planned: PlannedMessage,
  run: EditedRun,
): PendingEdit | undefined {
  switch (action.kind) {
    case 'replace':
    case 'set':
    case 'remove': {
      const text = editedText(before.text ?? run.textOf(planned), action)
      requireSendable(text, planned, run)
      return { ...before, text }
    }
    case 'skip':
      return { ...before, isSkipped: true }
    case 'delay':
      return { ...before, delay: action.milliseconds }
    case 'error':
      return { ...before, error: { code: action.code, message: action.message } }
    case 'reset':
      return undefined
  }
}

const NO_EDIT: PendingEdit = { text: undefined, isSkipped: false, delay: 0, error: undefined }

/** The name under which reports list messages that the user changed by hand. */
const EDITED_BY = 'debugger'

/** Why a message was not sent that the user has skipped. */
export const SKIPPED = 'skipped by the user'

/** Returns true if the user has changed or skipped the message of a step. */
export function isEdited({ why, transformedBy }: Pick<ReplayStep, 'why' | 'transformedBy'>): boolean {
  return why === SKIPPED || transformedBy.includes(EDITED_BY)
}

/** Applies the changes of the user to a message, after its values were filled in and the rules were applied. */
export function withEdit(made: TransformedMessage, edit: PendingEdit | undefined): TransformedMessage {
  if (edit === undefined) return made
  const { text = made.text, delay, error = made.error } = edit
  return { ...made, text, delay: made.delay + delay, error, applied: [...made.applied, EDITED_BY] }
}

function editedText(
  text: string,
  action: Extract<MessageEdit, { kind: 'replace' | 'set' | 'remove' }>,
): string {
  if (action.kind === 'replace')
    return jsonOnOneLine(typeof action.message === 'string' ? action.message : JSON.stringify(action.message))
  const value = action.kind === 'set' ? action.value : undefined
  return editText(text, parsePath(action.path), () => value) ?? text
}

function requireSendable(text: string, planned: PlannedMessage, run: EditedRun): void {
  const message = classifyMessage(parseJson(text))
  if (
    message.kind !== planned.message.kind ||
    (message.kind !== 'request' && message.kind !== 'notification')
  )
    throw editRefused(
      `the changed message is not a ${planned.message.kind}`,
      planned.message.kind === 'request'
        ? 'it needs "jsonrpc":"2.0", an "id" (which is replaced) and a "method"'
        : 'it needs "jsonrpc":"2.0" and a "method", and no "id"',
    )
  const why = run.holdReason(message, calledTool(message))
  if (why !== undefined)
    throw editRefused(`the changed message must not be sent: ${why}`, 'allow the tool with --allow <tool>')
}

export function editRefused(problem: string, hint: string): ReelayError {
  return new ReelayError('USAGE', problem, { hint })
}
