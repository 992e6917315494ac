import { styleText } from 'node:util'
import type { Spoken, Step } from '../tape/turn.ts'
import { durationText } from './duration.ts'
import type { ExchangeFacts } from './exchange-facts.ts'
import { layoutJson } from './layout-json.ts'
import { shortened, visibleJson } from '../wire/visible.ts'

/** Every message of an exchange in the order it was recorded, laid out for reading. */
export function exchangeMessages({ request, steps }: ExchangeFacts): readonly string[] {
  return [request, ...steps.flatMap(spokenIn)].flatMap(messageLines)
}

/** One message: who sent it, when, what it is, and its JSON. */
export function messageLines(spoken: Spoken): readonly string[] {
  const arrow = spoken.dir === 'c2s' ? '→' : '←'
  const title = `${arrow} ${titleOf(spoken)} at +${durationText(spoken.t)}`
  const json = layoutJson(visibleJson(spoken.text)).split('\n')
  return [styleText('cyan', title), ...json.map((line) => `  ${line}`)]
}

/** What a message is, in a few words. */
export function titleOf({ message }: Spoken): string {
  switch (message.kind) {
    case 'request':
    case 'notification':
      return shortened(message.method, 48)
    case 'response':
      return `answer to ${shortened(JSON.stringify(message.id), 48)}`
    case 'invalid':
      return `invalid: ${message.why}`
  }
}

function spokenIn(step: Step): readonly Spoken[] {
  if (step.kind !== 'ask') return [step.message]
  return step.answer === undefined ? [step.request] : [step.request, step.answer]
}
