import { messagesOfTurn } from '../tape/turn-messages.ts'
import type { Spoken, Turn } from '../tape/turn.ts'
import { isObject, member } from '../wire/message.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { wordsOf } from './names.ts'

/** A message of a tape, with what it belongs to. */
export interface TapeMessage {
  /** Index of its turn. */
  readonly turn: number
  readonly spoken: Spoken
  /** The method of the turn's request. */
  readonly method: string
  /** The tool that the turn calls. */
  readonly tool: string | undefined
  /** Words of what the turn is about: the tool, or the method. */
  readonly about: readonly string[]
}

/** The messages of all turns that can hold handles, in the order in which they were said. */
export function messagesOf(turns: readonly Turn[]): readonly TapeMessage[] {
  const aboutOf = remembered(wordsOf)
  return turns
    .flatMap((turn, index) => messagesIn(turn, index, aboutOf))
    .toSorted((a, b) => a.spoken.n - b.spoken.n || (a.spoken.item ?? 0) - (b.spoken.item ?? 0))
}

/** A key for one message, which no other message of its tape has. */
export function messageKey({ frame, item }: { readonly frame: number; readonly item?: number }): string {
  return item === undefined ? String(frame) : `${frame}/${item}`
}

function messagesIn(
  turn: Turn,
  index: number,
  aboutOf: (subject: string) => readonly string[],
): readonly TapeMessage[] {
  const call = turn.trigger?.message
  const method = call?.kind === 'request' || call?.kind === 'notification' ? call.method : ''
  if (HANDSHAKE_METHODS.has(method)) return []
  const params = call?.kind === 'request' ? call.params : undefined
  const tool = method === 'tools/call' ? nameIn(params) : undefined
  const about = aboutOf(tool ?? completedBy(params) ?? method)
  return messagesOfTurn(turn).map((spoken) => ({ turn: index, spoken, method, tool, about }))
}

function nameIn(params: unknown): string | undefined {
  const name = member(params, 'name')
  return typeof name === 'string' ? name : undefined
}

// A completion is about the argument that it completes.
function completedBy(params: unknown): string | undefined {
  const argument = member(params, 'argument')
  return isObject(argument) ? nameIn(argument) : undefined
}

// A tape has few tools and many calls.
function remembered<Result>(of: (text: string) => Result): (text: string) => Result {
  const known = new Map<string, Result>()
  return (text) => {
    const result = known.get(text) ?? of(text)
    known.set(text, result)
    return result
  }
}
