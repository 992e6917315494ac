import { describeValue } from '../../match/describe-request.ts'
import { diffFields, type FieldDifference } from '../../match/field-diff.ts'
import { formatPath } from '../../json/path.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import { idKey } from '../../protocol/id.ts'
import type { Response } from '../../protocol/message.ts'

/** What an answer of the live client means that is not the recorded one: a note, the end of the turn, or nothing. */
export type ClientAnswerPolicy = 'note' | 'fail' | 'ignore'

export const CLIENT_ANSWER_POLICIES: readonly ClientAnswerPolicy[] = ['note', 'fail', 'ignore']

interface OpenServerRequest {
  readonly request: RecordedMessage
  readonly recorded: RecordedMessage | undefined
  readonly answered: () => void
  /** The answer is another than the recorded one, and that counts. */
  readonly refused: (why: string) => void
}

/** The recorded server's requests that the live client has not answered yet, under ids of our own. */
export class ServerRequests {
  readonly #open = new Map<string, OpenServerRequest>()
  readonly #note: (note: string) => void
  readonly #policy: ClientAnswerPolicy
  #count = 0

  constructor(note: (note: string) => void, policy: ClientAnswerPolicy) {
    this.#note = note
    this.#policy = policy
  }

  /** The id to send the request under: the recorded one may be in use for another request of this run. */
  add(ask: OpenServerRequest): string {
    const id = `reelay-${++this.#count}`
    this.#open.set(idKey(id), ask)
    return id
  }

  /** Takes the live client's answer, which may be another than the recorded one. */
  receiveAnswer({ id, outcome }: Response): void {
    const key = id === null ? '' : idKey(id)
    const ask = this.#open.get(key)
    if (ask === undefined)
      return this.#note(`the client answered a request that it was not sent: id ${describeValue(id)}`)
    this.#open.delete(key)
    const difference = this.#policy === 'ignore' ? undefined : differenceFromRecorded(ask, outcome)
    if (difference === undefined) return ask.answered()
    const why = `the client answered ${describeServerRequest(ask.request)} ${difference}`
    if (this.#policy === 'fail') return ask.refused(why)
    this.#note(why)
    ask.answered()
  }

  /** The requests that the client still owes an answer to, though it gave one on the tape. */
  unanswered(): readonly string[] {
    return [...this.#open.values()]
      .filter(({ recorded }) => recorded !== undefined)
      .map(({ request }) => describeServerRequest(request))
  }
}

function differenceFromRecorded(
  { recorded }: OpenServerRequest,
  outcome: Response['outcome'],
): string | undefined {
  if (recorded?.message.kind !== 'response') return 'though on the tape it never did'
  const { differences } = diffFields(recorded.message.outcome, outcome, [])
  if (differences.length === 0) return undefined
  const more =
    differences.length > MAX_DIFFERENCES ? `, and ${differences.length - MAX_DIFFERENCES} more` : ''
  return `otherwise than on the tape: ${differences.slice(0, MAX_DIFFERENCES).map(describeDifference).join(', ')}${more}`
}

const MAX_DIFFERENCES = 3

function describeDifference(difference: FieldDifference): string {
  const recorded = 'recorded' in difference ? describeValue(difference.recorded) : 'nothing'
  const got = 'got' in difference ? describeValue(difference.got) : 'nothing'
  return `${formatPath(difference.path)} recorded ${recorded}, got ${got}`
}

function describeServerRequest({ message, n }: RecordedMessage): string {
  return `${message.kind === 'request' ? message.method : message.kind} (#${n})`
}
