import type { Spoken, Turn } from '../tape/turn.ts'
import { createDiffer } from '../diff/diff.ts'
import { rangeAt } from '../wire/members.ts'
import { isObject, type Request } from '../wire/message.ts'
import type { Carrier } from './carrier.ts'

/** What to do with a request of the server that was never recorded. */
export type AskPolicy = 'decline' | 'fail' | ((request: Request) => Promise<object>)

export interface AskReport {
  readonly method: string
  /** `recorded`: this very question is on the tape; `own`: answered by policy. */
  readonly by: 'recorded' | 'own'
}

/** Answers the live server's requests with what the recorded client answered. */
export class RecordedAnswers {
  readonly #asks = new Map<string, Ask[]>()
  readonly #policy: AskPolicy
  readonly #carrier: () => Carrier

  constructor(turns: Iterable<Turn>, { policy, carrier }: { policy: AskPolicy; carrier: () => Carrier }) {
    this.#policy = policy
    this.#carrier = carrier
    for (const { steps } of turns)
      for (const step of steps)
        if (step.kind === 'ask' && step.answer !== undefined) this.#add(step.request, step.answer)
  }

  /** The outcome as JSON members, and whether it was recorded. */
  async answer(request: Request): Promise<{ readonly outcome: string; readonly report: AskReport }> {
    const { method } = request
    if (method === 'ping') return { outcome: '"result":{}', report: { method, by: 'recorded' } }
    const recorded = this.#find(request)
    if (recorded !== undefined)
      return { outcome: outcomeOf(this.#carrier().answer(recorded)), report: { method, by: 'recorded' } }
    return { outcome: await this.#byPolicy(request), report: { method, by: 'own' } }
  }

  #add({ message }: Spoken, answer: Spoken): void {
    if (message.kind !== 'request') return
    const asks = this.#asks.get(message.method) ?? []
    asks.push({ content: contentOf(message.params), answer, isUsed: false })
    this.#asks.set(message.method, asks)
  }

  /** The first that was not given yet; a question that comes more often than it had gets its last answer again. */
  #find({ method, params }: Request): Spoken | undefined {
    const content = contentOf(params)
    const asks = this.#asks.get(method) ?? []
    const isSame = (ask: Ask): boolean => this.#isSame(ask.content, content)
    const found = asks.find((ask) => !ask.isUsed && isSame(ask)) ?? asks.findLast(isSame)
    if (found !== undefined) found.isUsed = true
    return found?.answer
  }

  #isSame(recorded: unknown, live: unknown): boolean {
    return DIFFER.values(recorded, live).every(
      ({ kind, expected, actual, path }) =>
        kind === 'changed' && this.#carrier().explains(expected, actual, path),
    )
  }

  async #byPolicy(request: Request): Promise<string> {
    if (typeof this.#policy === 'function') return askedOf(this.#policy, request)
    if (this.#policy === 'decline' && request.method === 'elicitation/create')
      return '"result":{"action":"decline"}'
    return errorOf(`Reelay has no recorded answer to ${request.method}`)
  }
}

/** The server waits for an answer, also when whoever was asked for one fails. */
async function askedOf(policy: (request: Request) => Promise<object>, request: Request): Promise<string> {
  try {
    return `"result":${JSON.stringify(await policy(request))}`
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return errorOf(`nobody could answer ${request.method}: ${why}`)
  }
}

function errorOf(message: string): string {
  return `"error":${JSON.stringify({ code: -1, message })}`
}

interface Ask {
  readonly content: unknown
  readonly answer: Spoken
  isUsed: boolean
}

const DIFFER = createDiffer({ order: 'kept' })

/** Progress tokens and the like differ from run to run. */
function contentOf(params: unknown): unknown {
  if (!isObject(params)) return {}
  const { _meta, ...content } = params
  return content
}

function outcomeOf(text: string): string {
  const name = rangeAt(text, ['result']) === undefined ? 'error' : 'result'
  const range = rangeAt(text, [name])
  return `"${name}":${text.slice(range?.start, range?.end)}`
}
