/** An event that was sent, or waits for a reader. */
export interface LoggedEvent<Stream> {
  readonly id: string
  readonly stream: Stream
  /** The message; none in an event that only names its id. */
  readonly text: string | undefined
}

const MAX_EVENTS = 1024
const MAX_CHARACTERS = 16 * 1024 * 1024

/** The last events of a session, so that a client that lost a stream can go on where it was. Old ones are forgotten. */
export class EventLog<Stream> {
  readonly #events: LoggedEvent<Stream>[] = []
  #count = 0
  #characters = 0

  add(stream: Stream, text?: string): LoggedEvent<Stream> {
    const event = { id: `e${++this.#count}`, stream, text }
    this.#events.push(event)
    this.#characters += text?.length ?? 0
    while (this.#events.length > MAX_EVENTS || this.#isTooLong()) this.#forget()
    return event
  }

  find(id: string): LoggedEvent<Stream> | undefined {
    return this.#events.find((event) => event.id === id)
  }

  /** What came on the same stream after that event. */
  after(last: LoggedEvent<Stream>): readonly LoggedEvent<Stream>[] {
    return this.#events.slice(this.#events.indexOf(last) + 1).filter(({ stream }) => stream === last.stream)
  }

  // The newest is kept however long it is.
  #isTooLong(): boolean {
    return this.#characters > MAX_CHARACTERS && this.#events.length > 1
  }

  #forget(): void {
    this.#characters -= this.#events.shift()?.text?.length ?? 0
  }
}
