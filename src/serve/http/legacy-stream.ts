import type { ServedResponse } from '../../http/server/served-exchange.ts'
import { sseEventText, SseWriter, ssePrimingText } from './sse-writer.ts'

/** One stream of a legacy session. It outlives its reader: a client that lost it may go on where it was. */
export class LegacyStream {
  readonly #log: EventLog<LegacyStream>
  readonly #retry: number | undefined
  readonly #unread: LoggedEvent<LegacyStream>[] = []
  #reader: SseWriter | undefined
  #isOver = false

  /** `retry` is how long a client is to wait before it goes on, in milliseconds. */
  constructor(log: EventLog<LegacyStream>, retry: number | undefined) {
    this.#log = log
    this.#retry = retry
  }

  get hasReader(): boolean {
    return this.#reader !== undefined
  }

  readonly send = (text: string): void => {
    const event = this.#log.add(this, text)
    if (this.#reader === undefined) this.#keep(event)
    else this.#reader.write(this.#textOf(event))
  }

  /** Gives the client an id to go on from before there is a message (2025-11-25). */
  prime(): void {
    this.#reader?.write(this.#textOf(this.#log.add(this)))
  }

  /** Lets go of the reader, who is to come back for the rest. */
  breakOff(): void {
    this.#reader?.end()
    this.#reader = undefined
  }

  readonly end = (): void => {
    this.#isOver = true
    this.#reader?.end()
  }

  /** Brings the stream to a reader: what none has read yet, or what came after the event that it names. */
  attachReader(
    res: ServedResponse,
    headers: Readonly<Record<string, string>>,
    last?: LoggedEvent<LegacyStream>,
  ): void {
    const reader = new SseWriter(res, headers)
    const events = last === undefined ? this.#unread : this.#log.after(last)
    for (const event of events) reader.write(this.#textOf(event))
    this.#unread.length = 0
    if (this.#isOver) return reader.end()
    this.#reader = reader
    res.on('close', () => {
      if (this.#reader === reader) this.#reader = undefined
    })
  }

  /** Waits for a reader that is behind. */
  async drained(): Promise<void> {
    await this.#reader?.drained()
  }

  #textOf({ id, text }: LoggedEvent<LegacyStream>): string {
    return text === undefined ? ssePrimingText(id, this.#retry) : sseEventText(text, { id })
  }

  // What the log has forgotten is forgotten here too.
  #keep(event: LoggedEvent<LegacyStream>): void {
    this.#unread.push(event)
    while (this.#unread.length > 0 && this.#log.find(this.#unread[0]?.id ?? '') === undefined)
      this.#unread.shift()
  }
}

/** An event that was sent, or waits for a reader. */
interface LoggedEvent<Stream> {
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
