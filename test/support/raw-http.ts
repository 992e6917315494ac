import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setImmediate as nextRound } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { ResponseReader } from '../../src/http/client/response-reader.ts'

/** An answer as it came, but for its date. */
export interface RawAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
}

/** A connection on which a test writes the bytes itself. */
export interface RawClient {
  readonly socket: Socket
  /** Writes the pieces so that each is read by itself. */
  readonly write: (...pieces: readonly string[]) => Promise<void>
  /** Waits for the next answer. */
  readonly answer: () => Promise<RawAnswer>
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>
}

/** Connects to a URL, or uses a connection that is already there. */
export function rawClient(target: string | Socket): RawClient {
  const socket = typeof target === 'string' ? connectTo(new URL(target)) : target
  onTestFinished(() => void socket.destroy())
  const answers = new Answers()
  socket.on('data', (chunk) => answers.push(chunk))
  socket.on('end', () => answers.end())
  socket.on('error', () => {}) // what is to be said of it is that the connection is closed
  return {
    socket,
    write: async (...pieces) => {
      if (socket.connecting) await once(socket, 'connect')
      for (const piece of pieces) {
        socket.write(piece)
        // One round to send it, one for the server to read it.
        for (let round = 0; round < 3; round++) await nextRound()
      }
    },
    answer: () => answers.next(),
    closed: new Promise((resolve) => socket.on('close', () => resolve())),
  }
}

function connectTo({ hostname, port }: URL): Socket {
  return connect(Number(port), hostname).setNoDelay(true)
}

class Answers {
  readonly #arrived: RawAnswer[] = []
  readonly #awaited: ((answer: RawAnswer) => void)[] = []
  readonly #reader: ResponseReader
  #current = { status: 0, headers: [] as readonly string[] }
  #body: Buffer[] = []

  constructor() {
    this.#reader = new ResponseReader(
      {
        onHead: ({ status, headers }) => (this.#current = { status, headers: linesOf(headers) }),
        onBody: (bytes) => this.#body.push(bytes),
        onEnd: () => this.#end(),
      },
      64 * 1024,
    )
    this.#reader.begin('POST')
  }

  push(chunk: Buffer): void {
    this.#reader.push(chunk)
  }

  /** The end of the connection may be that of an answer. */
  end(): void {
    this.#reader.end()
  }

  async next(): Promise<RawAnswer> {
    return this.#arrived.shift() ?? (await new Promise((resolve) => this.#awaited.push(resolve)))
  }

  #end(): void {
    const answer = { ...this.#current, body: Buffer.concat(this.#body).toString() }
    this.#body = []
    const take = this.#awaited.shift()
    if (take === undefined) this.#arrived.push(answer)
    else take(answer)
    this.#reader.begin('POST')
  }
}

function linesOf(headers: readonly string[]): readonly string[] {
  return headers.flatMap((name, at) =>
    at % 2 === 0 && name !== 'Date' ? [`${name}: ${headers[at + 1]}`] : [],
  )
}
