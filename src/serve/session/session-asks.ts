import { ReelayError } from '../../errors.ts'
import { classifyMessage, member, type JsonObject } from '../../protocol/message.ts'
import type { SendRequest } from './session-calls.ts'
import { resultOrThrow, type SessionCallOutcome, type SessionClient } from './session-client.ts'
import type { SendRequestSync } from './sync-session.ts'

/** What a session asks the recorded server, for an answer that may come later or for one that is there at once. */
export class SessionRequests {
  readonly #link: SessionClient
  readonly #missIsNull: boolean

  constructor(link: SessionClient, missIsNull: boolean) {
    this.#link = link
    this.#missIsNull = missIsNull
  }

  /** The result, when it has come; rejects with the server's error, and with a miss unless it is to be null. */
  readonly send: SendRequest = (method, params, options = {}) =>
    new Promise((resolve, reject) => {
      options.signal?.throwIfAborted()
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      this.#link.request(method, params, options, (outcome) => {
        try {
          resolve(resultOrThrow(outcome, this.#missIsNull))
        } catch (error) {
          reject(error)
        }
      })
    })

  /** The result without a promise; throws also when it takes time. */
  readonly sendSync: SendRequestSync = (method, params, options = {}) => {
    let found: SessionCallOutcome | undefined
    this.#link.request(method, params, options, (outcome) => (found = outcome))
    return resultOrThrow(found ?? throwNotAnsweredAtOnce(method), this.#missIsNull)
  }

  /** The whole response to a whole request, as it stands: an error is a response too. */
  respond(request: object): JsonObject {
    if (classifyMessage({ jsonrpc: '2.0', ...request }).kind !== 'request') throw notARequest()
    let answer: JsonObject | undefined
    this.#link.send(request, ({ value }) => (answer = value))
    return answer ?? throwNotAnsweredAtOnce(String(member(request, 'method')))
  }
}

function throwNotAnsweredAtOnce(method: string): never {
  throw new ReelayError('USAGE', `${method} was not answered at once`, {
    hint: 'a pace, a delay, a fault or a handler that gives a promise take time: use the call without sync',
  })
}

function notARequest(): ReelayError {
  return new ReelayError('USAGE', 'handleRequest was not given a request', {
    hint: 'it takes a JSON-RPC request, with an id and a method: a notification has no answer',
  })
}
