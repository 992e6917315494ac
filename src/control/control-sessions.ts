import { timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { errorMessage, ReelayError } from '../errors.ts'
import { isObject, parseJson, type JsonObject } from '../json/parse.ts'
import { decodeUtf8, lineBytes, LineSplitter, type Line } from '../protocol/lines.ts'
import { suggestName } from '../text.ts'
import { VERSION } from '../version.ts'
import { CONTROL_VERSION, type ControlAddress } from './control-files.ts'

/** Something that can be controlled from other processes of the same user: a recording, or a replay. */
export interface ControlSubject {
  /** Facts for the greeting, such as the kind of the subject. */
  readonly hello: () => JsonObject
  readonly commands: Readonly<Record<string, ControlCommand>>
  /** A client has come. Returns a function that is called when it has left. */
  readonly attach: (client: ControlPeer) => () => void
}

/** Handles a command. What it returns, or the error that it throws, is the reply. */
export type ControlCommand = (args: JsonObject, client: ControlPeer) => unknown

/** A client of the control socket. */
export interface ControlPeer {
  readonly name: string
  /** Set if the client only watches, and decides nothing. */
  readonly isWatching: boolean
  readonly send: (event: object) => void
}

/** The clients of a control server, over the socket and over HTTP. */
export class ControlSessions {
  readonly #subject: ControlSubject
  readonly #token: Buffer
  readonly #sockets = new Set<Socket>()

  constructor(subject: ControlSubject, { token }: ControlAddress) {
    this.#subject = subject
    this.#token = Buffer.from(token)
  }

  isToken(given: unknown): boolean {
    const bytes = Buffer.from(typeof given === 'string' ? given : '')
    return bytes.length === this.#token.length && timingSafeEqual(bytes, this.#token)
  }

  /** Greets a client. Returns a function that says that it has left. */
  attach(client: ControlPeer): () => void {
    client.send({ event: 'hello', version: CONTROL_VERSION, reelay: VERSION, ...this.#subject.hello() })
    return this.#subject.attach(client)
  }

  /** Runs one command and returns the reply. */
  async run(request: unknown, client: ControlPeer): Promise<object> {
    const id = isObject(request) ? (request['id'] ?? null) : null
    try {
      if (!isObject(request))
        throw usage('a command is a JSON object', 'for example {"id":1,"command":"list"}')
      const { command } = request
      const names = Object.keys(this.#subject.commands)
      const run =
        typeof command === 'string' && names.includes(command) ? this.#subject.commands[command] : undefined
      if (run === undefined)
        throw usage(
          `there is no command ${JSON.stringify(command)}${suggestName(String(command), names)}`,
          `the commands are ${names.join(', ')}`,
        )
      return { reply: id, ok: true, ...toObject(await run(request, client)) }
    } catch (error) {
      const code = error instanceof ReelayError ? error.code : 'UNEXPECTED'
      const hint = error instanceof ReelayError && error.hint !== undefined ? { hint: error.hint } : {}
      return { reply: id, ok: false, error: { code, message: errorMessage(error), ...hint } }
    }
  }

  accept(socket: Socket): void {
    this.#sockets.add(socket)
    const lines = new LineSplitter({ maxBytes: MAX_LINE_BYTES })
    const send = (event: object): void => {
      if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy() // a client that does not read
      else if (!socket.destroyed) socket.write(`${JSON.stringify(event)}\n`)
    }
    let detach: (() => void) | undefined
    let client: ControlPeer | undefined
    const patience = setTimeout(() => socket.destroy(), ATTACH_MS).unref()
    const onLine = (line: Line): void => {
      const request = parseJson(decodeUtf8(lineBytes(line)) ?? '')
      if (client === undefined) {
        client = this.#attachingClient(request, send)
        if (client === undefined) return void socket.end()
        clearTimeout(patience)
        detach = this.attach(client)
        return
      }
      void this.run(request, client).then(send)
    }
    socket.on('data', (chunk) => {
      for (const line of lines.split(chunk)) if (!socket.destroyed) onLine(line)
      if (client === undefined && lines.pendingBytes > MAX_ATTACH_BYTES) socket.destroy()
    })
    socket.on('error', () => {}) // that the client has left is seen by the close
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      clearTimeout(patience)
      this.#sockets.delete(socket)
      detach?.()
    })
  }

  close(): void {
    for (const socket of this.#sockets) socket.end()
    setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, 100).unref()
  }

  /** Returns `undefined` for a client that does not know the token, or speaks another version. */
  #attachingClient(request: unknown, send: ControlPeer['send']): ControlPeer | undefined {
    const { command, token, version, name, watch }: JsonObject = isObject(request) ? request : {}
    const refuse = (message: string): undefined => {
      send({ event: 'refused', version: CONTROL_VERSION, message })
    }
    if (command !== 'attach') return refuse('the first command must be attach')
    if (version !== CONTROL_VERSION) return refuse(`this is version ${CONTROL_VERSION} of the protocol`)
    if (!this.isToken(token)) return refuse('the token is wrong')
    return { name: typeof name === 'string' ? name.slice(0, 64) : 'client', isWatching: watch === true, send }
  }
}

const MAX_LINE_BYTES = 64 * 1024 * 1024
export const MAX_UNREAD_BYTES: number = 64 * 1024 * 1024
const MAX_ATTACH_BYTES = 4096
const ATTACH_MS = 5000

function usage(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}

function toObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
