import type { ControllerEvent, MessageView } from './commands.ts'
import type { ReplayController } from './controller.ts'

/** A message of a stepped run that waits for a decision. */
export interface Stop {
  /** Position among the client's messages on the tape, from 0. */
  readonly index: number
  readonly frame: number
  /** The number of the exchange that the request began; `undefined` for a notification. */
  readonly exchange?: number | undefined
  readonly method: string
  readonly tool: string | undefined
  /** The text that would be sent, with live values, except for its id; `undefined` if a live value is missing. */
  readonly text: string | undefined
  /** Sends the message and stops at the next one. */
  next(): void
  /** Skips the message and stops at the next one. */
  skip(): void
  /** Sends the message and all that follow. */
  goOn(): void
  /** Stops the run. */
  quit(): void
}

/** The stops of a stepped run before its messages, in order. */
export class StopQueue implements AsyncIterable<Stop> {
  readonly #controller: ReplayController
  readonly #stops: Stop[] = []
  #wake: () => void = () => {}
  #isClosed = false

  constructor(controller: ReplayController) {
    this.#controller = controller
  }

  /** Collects the stops from now on. */
  open(): void {
    const leave = this.#controller.subscribe((event) => {
      if (event.type === 'stopped') this.#add(event)
      else if (event.type === 'ended') leave()
    })
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Stop> {
    for (;;) {
      for (const stop of this.#stops.splice(0)) yield stop
      if (this.#stops.length > 0) continue
      if (this.#isClosed) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #add({ message }: Extract<ControllerEvent, { type: 'stopped' }>): void {
    if (message === undefined) return this.#controller.resume() // the end of the tape
    this.#stops.push(this.#stopAt(message))
    this.#wake()
  }

  #stopAt({ index, frame, exchange, method, tool, request: text }: MessageView): Stop {
    const controller = this.#controller
    const decide = (act: () => void) => (): void => {
      if (controller.status === 'paused') act()
    }
    return {
      index,
      frame,
      exchange,
      method,
      tool,
      text,
      next: decide(() => controller.step()),
      skip: decide(() => {
        controller.modifyNext({ kind: 'skip' })
        controller.step()
      }),
      goOn: decide(() => controller.resume()),
      quit: () => controller.stop(),
    }
  }
}
