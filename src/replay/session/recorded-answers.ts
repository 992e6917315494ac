import type { RecordedMessage, Turn } from '../../tape/turns.ts'
import { createDiffer } from '../../diff/diff.ts'
import { findRange } from '../../json/find-replace.ts'
import { isObject } from '../../json/parse.ts'
import type { Request } from '../../protocol/message.ts'
import { shapeOf } from '../steps/observed-notifications.ts'
import type { CarriedValues } from '../values/carried-values.ts'

/** How a request of the server that was not recorded is answered. */
export type ServerRequestPolicy = 'decline' | 'fail' | ((request: Request) => Promise<object>)

interface ServerRequestReport {
  readonly method: string
  /**
   * `recorded`: the request is on the tape; `similar`: one on the tape differs from it only in generated values, so that it gets the same
   * answer, and is compared; `own`: answered by policy.
   */
  readonly by: 'recorded' | 'similar' | 'own'
}

/** Answers requests of the live server as the recorded client did. */
export class RecordedAnswers {
  readonly #requests = new Map<string, RecordedRequest[]>()
  readonly #policy: ServerRequestPolicy
  readonly #values: () => CarriedValues

  constructor(
    turns: Iterable<Turn>,
    { policy, values }: { policy: ServerRequestPolicy; values: () => CarriedValues },
  ) {
    this.#policy = policy
    this.#values = values
    for (const { steps } of turns)
      for (const step of steps)
        if (step.kind === 'ask' && step.answer !== undefined) this.#add(step.request, step.answer)
  }

  /** Returns the outcome as JSON members, and if it was recorded. */
  async answer(
    request: Request,
  ): Promise<{ readonly outcome: string; readonly report: ServerRequestReport }> {
    const { method } = request
    if (method === 'ping') return { outcome: '"result":{}', report: { method, by: 'recorded' } }
    for (const by of ['recorded', 'similar'] as const) {
      const recorded = this.#find(request, by)
      if (recorded !== undefined)
        return { outcome: outcomeOf(this.#values().fillAnswer(recorded)), report: { method, by } }
    }
    return { outcome: await this.#byPolicy(request), report: { method, by: 'own' } }
  }

  #add({ message }: RecordedMessage, answer: RecordedMessage): void {
    if (message.kind !== 'request') return
    const requests = this.#requests.get(message.method) ?? []
    requests.push({ content: contentOf(message.params), answer, isUsed: false })
    this.#requests.set(message.method, requests)
  }

  /** Finds the first unused answer. A request that is sent more often than recorded gets the last answer again. */
  #find({ method, params }: Request, by: 'recorded' | 'similar'): RecordedMessage | undefined {
    const content = contentOf(params)
    const requests = this.#requests.get(method) ?? []
    const isAlike = by === 'recorded' ? NEVER : isSimilar(method)
    const isSame = (request: RecordedRequest): boolean => this.#isSame(request.content, content, isAlike)
    const found = requests.find((request) => !request.isUsed && isSame(request)) ?? requests.findLast(isSame)
    if (found !== undefined) found.isUsed = true
    return found?.answer
  }

  #isSame(recorded: unknown, live: unknown, isAlike: typeof NEVER): boolean {
    return DIFFER.values(recorded, live).every(
      ({ kind, expected, actual, path }) =>
        kind === 'changed' && (this.#values().explains(expected, actual, path) || isAlike(expected, actual)),
    )
  }

  async #byPolicy(request: Request): Promise<string> {
    if (typeof this.#policy === 'function') return answerByFunction(this.#policy, request)
    if (this.#policy === 'decline' && request.method === 'elicitation/create')
      return '"result":{"action":"decline"}'
    return errorOutcome(`Reelay has no recorded answer to ${request.method}`)
  }
}

const NEVER = (_expected: unknown, _actual: unknown): boolean => false

/**
 * Tells if two texts differ only in ids, times and other words with digits. The user of a form has agreed to its numbers, so that they
 * have to be equal.
 */
function isSimilar(method: string): typeof NEVER {
  return (expected, actual) => {
    if (typeof expected !== 'string' || typeof actual !== 'string') return false
    if (shapeOf(expected) !== shapeOf(actual)) return false
    return method !== 'elicitation/create' || numbersIn(expected) === numbersIn(actual)
  }
}

function numbersIn(text: string): string {
  return (text.match(/(?<![\w.:-])\d+(?:[.,]\d+)*(?![\w:-])/g) ?? []).join(' ')
}

/** The server gets an error if the function of the user fails. */
async function answerByFunction(
  policy: (request: Request) => Promise<object>,
  request: Request,
): Promise<string> {
  try {
    return `"result":${JSON.stringify(await policy(request))}`
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return errorOutcome(`answering ${request.method} failed: ${why}`)
  }
}

function errorOutcome(message: string): string {
  return `"error":${JSON.stringify({ code: -1, message })}`
}

interface RecordedRequest {
  readonly content: unknown
  readonly answer: RecordedMessage
  isUsed: boolean
}

const DIFFER = createDiffer({ order: 'kept' })

/** The params without `_meta`, which differs between runs. */
function contentOf(params: unknown): unknown {
  if (!isObject(params)) return {}
  const { _meta, ...content } = params
  return content
}

function outcomeOf(text: string): string {
  const name = findRange(text, ['result']) === undefined ? 'error' : 'result'
  const range = findRange(text, [name])
  return `"${name}":${text.slice(range?.start, range?.end)}`
}
