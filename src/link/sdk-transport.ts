import { errorMessage } from '../errors.ts'
import type { ClientLink, OpenLink } from './client-link.ts'

/** The part of an SDK transport that a client needs. The transports of both SDKs have it. */
export interface SdkClientTransport {
  start(): Promise<void>
  send(message: never): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: never, extra?: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
}

/** A link over a transport of the caller: of an SDK, or a served tape in memory. */
export function sdkTransportLink(transport: SdkClientTransport): OpenLink {
  return async ({ onText, onEnd }) => {
    Object.assign(transport, {
      onmessage: (message: unknown): void => onText(JSON.stringify(message)),
      onclose: (): void => {
        const reason: unknown = Reflect.get(transport, 'closeReason')
        onEnd(typeof reason === 'string' ? reason : 'the transport was closed')
      },
    })
    await transport.start()
    return new SdkTransportLink(transport, onEnd)
  }
}

class SdkTransportLink implements ClientLink {
  readonly #transport: SdkClientTransport
  readonly #onEnd: (why: string) => void
  #isClosed = false

  constructor(transport: SdkClientTransport, onEnd: (why: string) => void) {
    this.#transport = transport
    this.#onEnd = onEnd
  }

  send(text: string): void {
    this.#transport.send(JSON.parse(text) as never).catch((error: unknown) => {
      this.#onEnd(errorMessage(error))
    })
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#transport.close()
  }
}

/**
 * The `Transport` of both SDKs, for clients and servers. Messages and options belong to the SDK and are passed on unchanged,
 * so this type says as little about them as possible.
 */
export interface AnyTransport {
  start(): Promise<void>
  send(message: unknown, options?: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: OnMessage | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  sessionId?: string | undefined
  setProtocolVersion?: ((version: string) => void) | undefined
  setSupportedProtocolVersions?: ((versions: string[]) => void) | undefined
  readonly hasPerRequestStream?: boolean
}

// Each SDK has its own message type. Only the type of a method can be assigned from and to both.
type OnMessage = { method(message: unknown, extra?: unknown): void }['method']
