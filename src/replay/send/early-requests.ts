import { type Id, idToJson } from '../../protocol/message.ts'
import { answerTimeout } from '../session/deadlines.ts'
import type { LiveCall, LiveSession } from '../session/live-session.ts'
import type { Turn } from '../../tape/turns.ts'
import { keptId, withFreshIds } from './request-ids.ts'

interface EarlyRequestsOptions {
  /** Milliseconds that an answer may take. */
  readonly timeout: number | undefined
  /** True if requests are sent with their recorded ids. */
  readonly keepsIds: boolean
}

/**
 * Recorded requests that are sent before their turn, because the run needs their answers to plan. When the turn of such a request
 * comes, its call is taken from here and the request is not sent again: a server may count how often it is asked.
 */
export class EarlyRequests {
  readonly #options: EarlyRequestsOptions
  /** The calls by the frames of their recorded requests. */
  readonly #calls = new Map<number, { readonly text: string; readonly call: LiveCall }>()

  constructor(options: EarlyRequestsOptions) {
    this.#options = options
  }

  /** Sends a recorded request. `text` is its text with live values. */
  send(session: LiveSession, turn: Turn, text: string): LiveCall {
    const { trigger, response } = turn
    const { keepsIds } = this.#options
    const timeout = answerTimeout(this.#options.timeout, turn)
    const recordedId: Id = trigger?.message.kind === 'request' ? trigger.message.id : 0
    const id = keepsIds ? keptId(recordedId, session, false) : session.nextId()
    const expected = response && { text: response.text, id: idToJson(recordedId) }
    const call = session.request({ ...withFreshIds(text, id), id, timeout, expected })
    this.#calls.set(trigger?.n ?? 0, { text, call })
    return call
  }

  /** Returns the call of a recorded request, once; `undefined` if it was not sent, or if it was sent with another text. */
  take({ trigger }: Turn, text: string): LiveCall | undefined {
    if (this.#calls.size === 0) return undefined
    const frame = trigger?.n ?? 0
    const sent = this.#calls.get(frame)
    this.#calls.delete(frame)
    return sent?.text === text ? sent.call : undefined
  }
}
