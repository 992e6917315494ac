import { styleText } from 'node:util'
import type { RecordedMessage, TurnStep } from '../tape/turn.ts'
import { formatDuration } from './duration.ts'
import type { ExchangeFacts } from './exchanges/exchange.ts'
import { indentJson } from './layout-json.ts'
import { truncateText, escapeControlCharsInJson } from '../text.ts'

/** Every message of an exchange in the order it was recorded, laid out for reading. */
export function exchangeMessages({ request, steps }: ExchangeFacts): readonly string[] {
  return [request, ...steps.flatMap(messagesOfStep)].flatMap(messageLines)
}

/** One message: who sent it, when, what it is, and its JSON. */
export function messageLines(spoken: RecordedMessage): readonly string[] {
  const arrow = spoken.dir === 'c2s' ? '→' : '←'
  const title = `${arrow} ${messageTitle(spoken)} at +${formatDuration(spoken.t)}`
  const json = indentJson(escapeControlCharsInJson(spoken.text)).split('\n')
  return [styleText('cyan', title), ...json.map((line) => `  ${line}`)]
}

/** What a message is, in a few words. */
export function messageTitle({ message }: RecordedMessage): string {
  switch (message.kind) {
    case 'request':
    case 'notification':
      return truncateText(message.method, 48)
    case 'response':
      return `answer to ${truncateText(JSON.stringify(message.id), 48)}`
    case 'invalid':
      return `invalid: ${message.why}`
  }
}

function messagesOfStep(step: TurnStep): readonly RecordedMessage[] {
  if (step.kind !== 'ask') return [step.message]
  return step.answer === undefined ? [step.request] : [step.request, step.answer]
}
