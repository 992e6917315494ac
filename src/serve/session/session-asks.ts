import { ReelayError } from '../../errors.ts'
import { classify, member, type JsonObject } from '../../wire/message.ts'
import type { Ask } from './session-calls.ts'
import { resultOf, type Outcome, type SessionLink } from './session-link.ts'
import type { AskNow } from './sync-session.ts'

/** What a session asks the recorded server, for an answer that may come later or for one that is there at once. */
export class SessionAsks {
  readonly #link: SessionLink
  readonly #missIsNull: boolean

  constructor(link: SessionLink, missIsNull: boolean) {
    this.#link = link
    this.#missIsNull = missIsNull
  }

  /** The result, when it has come; rejects with the server's error, and with a miss unless it is to be null. */
  readonly later: Ask = (method, params, options = {}) =>
    new Promise((resolve, reject) => {
      options.signal?.throwIfAborted()
      options.signal?.addEventListener('abort', () => reject(options.signal?.reason), { once: true })
      this.#link.request(method, params, options, (outcome) => {
        try {
          resolve(resultOf(outcome, this.#missIsNull))
        } catch (error) {
          reject(error)
        }
      })
    })

  /** The result without a promise; throws also when it takes time. */
  readonly now: AskNow = (method, params, options = {}) => {
    let found: Outcome | undefined
    this.#link.request(method, params, options, (outcome) => (found = outcome))
    return resultOf(found ?? throwTooLate(method), this.#missIsNull)
  }

  /** The whole response to a whole request, as it stands: an error is a response too. */
  respond(request: object): JsonObject {
    if (classify({ jsonrpc: '2.0', ...request }).kind !== 'request') throw noRequest()
    let answer: JsonObject | undefined
    this.#link.send(request, ({ value }) => (answer = value))
    return answer ?? throwTooLate(String(member(request, 'method')))
  }
}

function throwTooLate(method: string): never {
  throw new ReelayError('USAGE', `${method} was not answered at once`, {
    hint: 'a pace, a delay, a fault or a handler that gives a promise take time: use the call without sync',
  })
}

function noRequest(): ReelayError {
  return new ReelayError('USAGE', 'handleRequest was not given a request', {
    hint: 'it takes a JSON-RPC request, with an id and a method: a notification has no answer',
  })
}
