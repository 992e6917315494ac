import type { Turn } from '../tape/turn.ts'
import { rangeAt, replaceAt } from '../wire/members.ts'

/** A live answer as it would stand on the tape in the place of the recorded one. */
export interface Acceptable {
  /** The frame that holds the recorded answer. */
  readonly frame: number
  readonly text: string
}

/** With the recorded id, and with the recorded names of what the live server has other names for. An item of a batch has no frame of its own. */
export function acceptable(
  { response }: Turn,
  answer: string,
  recordedNames: (text: string) => string,
): Acceptable | undefined {
  if (response === undefined || response.item !== undefined) return undefined
  const id = rangeAt(response.text, ['id'])
  const text = replaceAt(answer, ['id'], response.text.slice(id?.start, id?.end))
  return { frame: response.n, text: recordedNames(text) }
}
