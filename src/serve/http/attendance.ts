import type { ServedResponse } from '../../http/server/served-exchange.ts'

/**
 * Notices that a client is gone for good: it had a standing stream, lets go of it, and neither comes back nor says anything. One
 * that never had such a stream may be silent as long as it likes.
 */
export class ClientPresence {
  readonly #onLeft: () => void
  readonly #patience: number
  #open = 0
  #hadStandingStream = false
  #timer: NodeJS.Timeout | undefined

  constructor(onLeft: () => void, patience: number) {
    this.#onLeft = onLeft
    this.#patience = patience
  }

  /** An exchange of the client, until it is over. */
  track(res: ServedResponse, { isStanding }: { readonly isStanding: boolean }): void {
    this.#hadStandingStream ||= isStanding
    this.#open++
    clearTimeout(this.#timer)
    res.on('close', () => this.#close())
  }

  #close(): void {
    this.#open--
    if (this.#open > 0 || !this.#hadStandingStream) return
    this.#timer = setTimeout(this.#onLeft, this.#patience).unref()
  }
}
