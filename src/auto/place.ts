import type { Spoken, Turn } from '../tape/turn.ts'

/** Where a turn was recorded: at its first message. */
export function placeOf({ trigger, steps: [first] }: Turn): Spoken | undefined {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}
