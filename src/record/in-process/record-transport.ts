import type { Direction } from '../../protocol/message.ts'
import { errorMessage } from '../../errors.ts'
import type { AnyTransport } from '../../link/sdk-transport.ts'
import { type MessageRecorder, Recording, type RecordingOptions } from '../recording.ts'

export type RecordTransportOptions = {
  /** The name of the server on the tape. */
  readonly server: string
  /** The side that uses the transport; by default the client. */
  readonly side?: 'client' | 'server'
} & (
  | {
      /** A tape that several transports share. Its creator closes it. */
      readonly recording: Recording
    }
  /** A tape for this transport, which is finished when the transport closes. */
  | RecordingOptions
)

/**
 * Wraps a transport, and records every message. It accepts the transports of both SDKs, for clients and servers.
 *
 * @example
 * await client.connect(recordTransport(new StdioClientTransport({ command: 'my-server' }), { tape: 'a', server: 'mine' }))
 */
export function recordTransport(
  transport: AnyTransport,
  options: RecordTransportOptions,
): AnyTransport & AsyncDisposable {
  const isShared = 'recording' in options
  const recording = isShared ? options.recording : new Recording(options)
  const recorded = new RecordedTransport(transport, {
    tape: recording.link({ server: options.server, info: { transport: 'in-process' } }),
    sent: options.side === 'server' ? 's2c' : 'c2s',
    onEnd: async () => {
      if (!isShared) await recording.close()
    },
  })
  return withOptionalMembers(recorded, transport)
}

interface RecordedTransportContext {
  readonly tape: MessageRecorder
  /** The direction of the messages that this side sends. */
  readonly sent: Direction
  /** Called when the transport is closed, possibly more than once. */
  readonly onEnd: () => Promise<void>
}

class RecordedTransport implements AnyTransport, AsyncDisposable {
  onmessage: AnyTransport['onmessage']
  onclose: AnyTransport['onclose']
  onerror: AnyTransport['onerror']
  readonly #inner: AnyTransport
  readonly #context: RecordedTransportContext
  #isAttached = false
  #isClosed = false

  constructor(inner: AnyTransport, context: RecordedTransportContext) {
    this.#inner = inner
    this.#context = context
  }

  readonly start = async (): Promise<void> => {
    this.#attach()
    this.#context.tape.event('start')
    await this.#recordingErrors(() => this.#inner.start())
  }

  readonly send = async (message: unknown, options?: unknown): Promise<void> => {
    this.#attach()
    const { tape, sent } = this.#context
    tape.message(sent, message)
    await this.#recordingErrors(() => this.#inner.send(message, options))
  }

  readonly close = async (): Promise<void> => {
    this.#attach()
    await this.#recordingErrors(() => this.#inner.close())
    this.#onClosed()
    await this.#context.onEnd()
  };

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Attached late, so that callbacks that were set on the inner transport before are kept. */
  #attach(): void {
    if (this.#isAttached) return
    this.#isAttached = true
    const { tape, sent } = this.#context
    const { onmessage, onclose, onerror } = this.#inner
    const callbacks: Pick<AnyTransport, 'onmessage' | 'onclose' | 'onerror'> = {
      onmessage: (message, extra) => {
        tape.message(sent === 'c2s' ? 's2c' : 'c2s', message)
        onmessage?.(message, extra)
        this.onmessage?.(message, extra)
      },
      onerror: (error) => {
        tape.event('error', { message: error.message })
        onerror?.(error)
        this.onerror?.(error)
      },
      onclose: () => {
        onclose?.()
        this.#onClosed()
      },
    }
    Object.assign(this.#inner, callbacks)
  }

  /** A transport may call `onclose`, or only resolve `close`, or do both. */
  #onClosed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#context.tape.event('close')
    void this.#context.onEnd()
    this.onclose?.()
  }

  async #recordingErrors(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#context.tape.event('error', { message: errorMessage(error) })
      throw error
    }
  }
}

const OPTIONAL_MEMBERS: readonly PropertyKey[] = [
  'sessionId',
  'setProtocolVersion',
  'setSupportedProtocolVersions',
  'hasPerRequestStream',
] satisfies (keyof AnyTransport)[]

/** SDKs check whether a transport has these members, and some are added late, so they are looked up in the inner transport each time. */
function withOptionalMembers(
  recorded: RecordedTransport,
  inner: AnyTransport,
): AnyTransport & AsyncDisposable {
  const holder = (target: AnyTransport, name: PropertyKey): AnyTransport =>
    OPTIONAL_MEMBERS.includes(name) ? inner : target
  return new Proxy<AnyTransport & AsyncDisposable>(recorded, {
    has: (target, name) => Reflect.has(holder(target, name), name),
    set: (target, name, value) => Reflect.set(holder(target, name), name, value),
    get: (target, name) => {
      const value: unknown = Reflect.get(holder(target, name), name)
      return typeof value === 'function' && OPTIONAL_MEMBERS.includes(name) ? value.bind(inner) : value
    },
  })
}
