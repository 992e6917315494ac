import type { Spoken, Step, Turn } from './turn.ts'

/** The messages of a turn in their order: what set it off, then what was said and answered. */
export function messagesOfTurn({ trigger, steps }: Turn): readonly Spoken[] {
  return [trigger, ...steps.flatMap(messagesOfStep)].filter((spoken) => spoken !== undefined)
}

function messagesOfStep(step: Step): readonly (Spoken | undefined)[] {
  return step.kind === 'ask' ? [step.request, step.answer] : [step.message]
}
