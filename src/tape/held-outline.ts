import { hasModernEnvelope } from '../protocol/methods.ts'
import type { Notification, Request } from '../protocol/message.ts'
import { toolOrPromptName } from '../wire/name.ts'
import type { TurnOutline } from './turn-store.ts'
import type { RecordedMessage, Turn } from './turn.ts'

/** The outline of a turn in memory. Tapes are looked through for one word of it: each is looked up when it is asked for. */
export class InMemoryOutline implements TurnOutline {
  readonly #turn: Turn | undefined

  constructor(turn: Turn | undefined) {
    this.#turn = turn
  }

  get trigger(): TurnOutline['trigger'] {
    return this.#clientMessage?.kind ?? 'none'
  }

  get server(): string {
    return (this.#turn?.trigger ?? firstServerMessage(this.#turn))?.server ?? ''
  }

  get method(): string {
    return this.#clientMessage?.method ?? ''
  }

  get frame(): number {
    return this.#turn?.trigger?.n ?? 0
  }

  get answered(): boolean {
    return this.#turn?.response !== undefined
  }

  get enveloped(): boolean {
    return hasModernEnvelope(this.#clientMessage?.params)
  }

  // There is at most one answer.
  get hasSteps(): boolean {
    const steps = this.#turn?.steps ?? []
    return steps.length > 1 || (steps[0]?.kind ?? 'respond') !== 'respond'
  }

  get name(): string | undefined {
    return this.#clientMessage === undefined ? undefined : toolOrPromptName(this.#clientMessage)
  }

  get #clientMessage(): Request | Notification | undefined {
    const message = this.#turn?.trigger?.message
    return message !== undefined && 'method' in message ? message : undefined
  }
}

function firstServerMessage(turn: Turn | undefined): RecordedMessage | undefined {
  const step = turn?.steps[0]
  return step?.kind === 'ask' ? step.request : step?.message
}
