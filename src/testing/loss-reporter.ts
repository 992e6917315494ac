import { member } from '../json/parse.ts'
import type { openLinkTransport } from '../link/link-transport.ts'
import type { AnyTransport } from '../link/sdk-transport.ts'
import { idKey, isId, type Id } from '../protocol/message.ts'

/**
 * Says why a request got no response while a test records: the SDKs only say "Connection closed", or wait for a minute. The
 * client gets an error response, which is not on the tape.
 */
export class LossReporter {
  readonly #open = new Map<string, Id>()
  #receive: (message: unknown) => void = () => {}
  #stderr = ''

  readonly addStderr = (chunk: Uint8Array): void => {
    this.#stderr = (this.#stderr + Buffer.from(chunk).toString()).slice(-LONGEST_STDERR)
  }

  /** What the live transport reports to. `server` is its command or URL. */
  handlersFor(server: string): NonNullable<Parameters<typeof openLinkTransport>[1]> {
    return {
      onLost: (key, why) => this.#fail(key, `${why} (${server})`),
      describe: (why) => {
        const told = this.#stderr.trim()
        return `${why}: ${server}${told === '' ? '' : `\n${told}`}`
      },
      onEnd: (why) => {
        for (const key of this.#open.keys()) this.#fail(key, why)
      },
    }
  }

  /** Returns the same transport. Its open requests are remembered. */
  watch<Transport extends AnyTransport>(transport: Transport): Transport {
    return new Proxy(transport, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'send')
          return (message: unknown, options?: unknown) => {
            const id = member(message, 'id')
            if (isId(id) && member(message, 'method') !== undefined) this.#open.set(idKey(id), id)
            return target.send(message, options)
          }
        return typeof value === 'function' && name !== 'onmessage' ? value.bind(target) : value
      },
      set: (target, name, value: unknown) => {
        if (name !== 'onmessage' || typeof value !== 'function') return Reflect.set(target, name, value)
        const given = value as (message: unknown, extra?: unknown) => void
        this.#receive = given
        return Reflect.set(target, name, (message: unknown, extra?: unknown): void => {
          const id = member(message, 'id')
          if (isId(id) && member(message, 'method') === undefined) this.#open.delete(idKey(id))
          given(message, extra)
        })
      },
    })
  }

  #fail(key: string, why: string): void {
    const id = this.#open.get(key)
    if (id === undefined) return
    this.#open.delete(key)
    this.#receive({ jsonrpc: '2.0', id, error: { code: NO_RESPONSE, message: `reelay: ${why}` } })
  }
}

const LONGEST_STDERR = 2000
/** The code of a proxy that cannot reach its server. */
const NO_RESPONSE = -39502
