import type { RecordedMessage, TurnStep, Turn } from './turn.ts'

/** The messages of a turn in their order: what set it off, then what was said and answered. */
export function messagesOfTurn({ trigger, steps }: Turn): readonly RecordedMessage[] {
  return [trigger, ...steps.flatMap(messagesOfStep)].filter((spoken) => spoken !== undefined)
}

function messagesOfStep(step: TurnStep): readonly (RecordedMessage | undefined)[] {
  return step.kind === 'ask' ? [step.request, step.answer] : [step.message]
}
