import { isEnveloped } from '../wire/methods.ts'
import type { Notification, Request } from '../wire/message.ts'
import { nameOf } from '../wire/name.ts'
import type { Outline } from './turn-store.ts'
import type { Spoken, Turn } from './turn.ts'

/** The outline of a turn in memory. Tapes are looked through for one word of it: each is looked up when it is asked for. */
export class HeldOutline implements Outline {
  readonly #turn: Turn | undefined

  constructor(turn: Turn | undefined) {
    this.#turn = turn
  }

  get trigger(): Outline['trigger'] {
    return this.#called?.kind ?? 'none'
  }

  get server(): string {
    return (this.#turn?.trigger ?? firstOf(this.#turn))?.server ?? ''
  }

  get method(): string {
    return this.#called?.method ?? ''
  }

  get frame(): number {
    return this.#turn?.trigger?.n ?? 0
  }

  get answered(): boolean {
    return this.#turn?.response !== undefined
  }

  get enveloped(): boolean {
    return isEnveloped(this.#called?.params)
  }

  // There is at most one answer.
  get hasSteps(): boolean {
    const steps = this.#turn?.steps ?? []
    return steps.length > 1 || (steps[0]?.kind ?? 'respond') !== 'respond'
  }

  get name(): string | undefined {
    return this.#called === undefined ? undefined : nameOf(this.#called)
  }

  get #called(): Request | Notification | undefined {
    const message = this.#turn?.trigger?.message
    return message !== undefined && 'method' in message ? message : undefined
  }
}

function firstOf(turn: Turn | undefined): Spoken | undefined {
  const step = turn?.steps[0]
  return step?.kind === 'ask' ? step.request : step?.message
}
