import { describeValue } from '../../match/describe-request.ts'
import { diffFields, type FieldDifference } from '../../match/field-diff.ts'
import { formatPath } from '../../json/path.ts'
import type { RecordedMessage } from '../../tape/turns.ts'
import type { Response } from '../../protocol/message.ts'

/** How to treat an answer of the live client that differs from the recorded one: note it, end the turn, or ignore it. */
export type ClientAnswerPolicy = 'note' | 'fail' | 'ignore'

export const CLIENT_ANSWER_POLICIES: readonly ClientAnswerPolicy[] = ['note', 'fail', 'ignore']

/** Describes how the client's answer to a server request differs from the recorded one. */
export function describeAnswerDrift(
  request: RecordedMessage,
  recorded: RecordedMessage | undefined,
  outcome: Response['outcome'],
): string | undefined {
  const answered = `the client answered ${describeServerRequest(request)}`
  if (recorded?.message.kind !== 'response') return `${answered}, which it did not do on the tape`
  const { differences } = diffFields(recorded.message.outcome, outcome, [])
  if (differences.length === 0) return undefined
  const shown = differences.slice(0, MAX_DIFFERENCES).map(describeDifference).join(', ')
  const more =
    differences.length > MAX_DIFFERENCES ? `, and ${differences.length - MAX_DIFFERENCES} more` : ''
  return `${answered} differently than on the tape: ${shown}${more}`
}

const MAX_DIFFERENCES = 3

function describeDifference(difference: FieldDifference): string {
  const recorded = 'recorded' in difference ? describeValue(difference.recorded) : 'nothing'
  const got = 'got' in difference ? describeValue(difference.got) : 'nothing'
  return `${formatPath(difference.path)} recorded ${recorded}, got ${got}`
}

export function describeServerRequest({ message, n }: RecordedMessage): string {
  return `${message.kind === 'request' ? message.method : message.kind} (#${n})`
}
