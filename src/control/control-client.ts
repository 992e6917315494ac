import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { ReelayError, systemErrorCode, type ErrorCode, ERROR_CODES } from '../errors.ts'
import { isObject, parseJson, type JsonObject } from '../json/parse.ts'
import { decodeUtf8, lineBytes, LineSplitter } from '../protocol/lines.ts'
import {
  CONTROL_VERSION,
  findControlAddress,
  removeControlAddress,
  type ControlAddress,
} from './control-files.ts'

export interface ControlClientOptions {
  readonly tape: string
  readonly name: string
  /** Only watches: nothing is held for this client. */
  readonly watch?: boolean
  readonly onEvent: (event: JsonObject) => void
}

/** A connection to a recorder or debugger on this machine. */
export class ControlClient {
  /** Resolves when the connection is over. */
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #replies = new Map<number, (reply: JsonObject) => void>()
  /** Resolves with the first event: nothing for a greeting, and the reason for a refusal. */
  readonly #greeted: Promise<string | undefined>
  #onGreeting: (refusal: string | undefined) => void = () => {}
  #requests = 0

  /** Connects to whatever writes a tape. Throws if there is nothing. */
  static async open(options: ControlClientOptions): Promise<ControlClient> {
    const address = findControlAddress(options.tape)
    const socket = connect(address.socket)
    try {
      await once(socket, 'connect')
    } catch (error) {
      throw connectError(error, address)
    }
    const client = new ControlClient(socket, address, options)
    const refusal = await Promise.race([client.#greeted, client.closed.then(() => 'it has ended')])
    if (refusal === undefined) return client
    client.close()
    throw refusedError(refusal, address)
  }

  private constructor(
    socket: Socket,
    { token }: ControlAddress,
    { name, watch, onEvent }: ControlClientOptions,
  ) {
    this.#socket = socket
    this.#greeted = new Promise((resolve) => (this.#onGreeting = resolve))
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.once('close', () => {
      const error = { code: 'CONTROL_NOT_FOUND', message: 'the connection was closed' }
      for (const reply of this.#replies.values()) reply({ ok: false, error })
    })
    const lines = new LineSplitter()
    socket.on('error', () => {}) // the close follows
    socket.on('data', (chunk) => {
      for (const line of lines.split(chunk))
        this.#receive(parseJson(decodeUtf8(lineBytes(line)) ?? ''), onEvent)
    })
    this.#write({ command: 'attach', version: CONTROL_VERSION, token, name, ...(watch && { watch }) })
  }

  /** Sends a command and waits for the reply. Throws the error of the other side. */
  async request(command: string, args: JsonObject = {}): Promise<JsonObject> {
    const id = ++this.#requests
    const reply = await new Promise<JsonObject>((resolve) => {
      this.#replies.set(id, resolve)
      this.#write({ id, command, ...args })
    })
    if (reply['ok'] === true) return reply
    throw replyError(reply['error'])
  }

  close(): void {
    this.#socket.end()
  }

  #write(request: object): void {
    this.#socket.write(`${JSON.stringify(request)}\n`)
  }

  #receive(value: unknown, onEvent: ControlClientOptions['onEvent']): void {
    if (!isObject(value)) return
    const id = value['reply']
    if (value['event'] === 'refused') return this.#onGreeting(String(value['message']))
    this.#onGreeting(undefined)
    if (typeof id !== 'number') return onEvent(value)
    this.#replies.get(id)?.(value)
    this.#replies.delete(id)
  }
}

function connectError(error: unknown, address: ControlAddress): unknown {
  if (!['ENOENT', 'ECONNREFUSED'].includes(String(systemErrorCode(error)))) return error
  removeControlAddress(address) // left behind by a process that was killed
  return new ReelayError(
    'CONTROL_NOT_FOUND',
    `the process ${address.pid}, which was writing ${address.tape}, has ended`,
    {
      hint: 'start it again with reelay record --intercept <filter>',
      cause: error,
    },
  )
}

function refusedError(why: string, { pid, tape }: ControlAddress): ReelayError {
  return new ReelayError(
    'CONTROL_NOT_FOUND',
    `the process ${pid}, which was writing ${tape}, cannot be controlled: ${why}`,
    {
      hint: 'use the same version of Reelay for both commands',
    },
  )
}

function replyError(error: unknown): ReelayError {
  const { code, message, hint }: JsonObject = isObject(error) ? error : {}
  const known = Object.keys(ERROR_CODES).find((each): each is ErrorCode => each === code)
  return new ReelayError(known ?? 'UNEXPECTED', String(message), {
    ...(typeof hint === 'string' && { hint }),
  })
}
