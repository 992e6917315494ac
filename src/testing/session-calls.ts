import { isObject, member, type JsonObject } from '../json/parse.ts'
import type { AnyTransport } from '../link/sdk-transport.ts'
import { classifyMessage, idKey } from '../protocol/message.ts'
import { isHandshakeMethod } from '../protocol/revisions/index.ts'

/** A request of the client under test. */
export interface SessionCall {
  readonly method: string
  readonly params: unknown
  /** The tool of a `tools/call`. */
  readonly tool?: string
  /** The arguments of a `tools/call`. */
  readonly args?: JsonObject
  /** `undefined` until the response arrives. */
  readonly result?: unknown
  readonly error?: unknown
  /** Milliseconds until the response. */
  readonly duration?: number
}

type OpenCall = { -readonly [Name in keyof SessionCall]: SessionCall[Name] } & { sentAt: number }

/** Collects the requests of the client and their responses, in the order of the requests. */
export class SessionCallLog {
  readonly calls: OpenCall[] = []

  /** Returns the same transport. Its messages are collected. */
  watch<Transport extends AnyTransport>(transport: Transport): Transport {
    const open = new Map<string, OpenCall>()
    const onSent = (message: unknown): void => this.#sent(message, open)
    const handlers = new WeakMap<object, (message: unknown, extra?: unknown) => void>()
    return new Proxy(transport, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'send')
          return (message: unknown, options?: unknown) => {
            onSent(message)
            return target.send(message, options)
          }
        return typeof value === 'function' && name !== 'onmessage' ? value.bind(target) : value
      },
      set: (target, name, value: unknown) => {
        if (name !== 'onmessage' || typeof value !== 'function') return Reflect.set(target, name, value)
        const given = value as (message: unknown, extra?: unknown) => void
        const watched = (message: unknown, extra?: unknown): void => {
          received(message, open)
          given(message, extra)
        }
        handlers.set(given, watched)
        return Reflect.set(target, name, watched)
      },
    })
  }

  #sent(message: unknown, open: Map<string, OpenCall>): void {
    const request = classifyMessage(message)
    if (request.kind !== 'request' || isHandshakeMethod(request.method)) return
    const { method, params } = request
    const [tool, args] = [member(params, 'name'), member(params, 'arguments')]
    const call: OpenCall = {
      method,
      params,
      sentAt: performance.now(),
      ...(method === 'tools/call' && typeof tool === 'string' && { tool, args: isObject(args) ? args : {} }),
    }
    this.calls.push(call)
    open.set(idKey(request.id), call)
  }
}

function received(message: unknown, open: Map<string, OpenCall>): void {
  const response = classifyMessage(message)
  if (response.kind !== 'response' || response.id === null) return
  const call = open.get(idKey(response.id))
  if (call === undefined) return
  Object.assign(call, response.outcome, { duration: performance.now() - call.sentAt })
}
