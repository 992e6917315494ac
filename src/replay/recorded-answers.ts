import type { Spoken, Turn } from '../tape/turn.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { rangeAt } from '../wire/members.ts'
import { isObject, type Request } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** What to do with a request of the server that was never recorded. */
export type AskPolicy = 'decline' | 'fail' | ((request: Request) => Promise<object>)

export interface AskReport {
  readonly method: string
  /** `recorded`: this very question is on the tape; `own`: answered by policy. */
  readonly by: 'recorded' | 'own'
}

/** Answers the live server's requests with what the recorded client answered. */
export class RecordedAnswers {
  readonly #byContent = new Map<string, Spoken[]>()
  readonly #used = new Map<string, number>()
  readonly #policy: AskPolicy

  /** `live` puts the values of the live server in the place of the recorded ones. */
  constructor(
    turns: readonly Turn[],
    { policy, live = (text) => text }: { policy: AskPolicy; live?: (text: string) => string },
  ) {
    this.#policy = policy
    this.#live = live
    for (const { steps } of turns)
      for (const step of steps)
        if (step.kind === 'ask' && step.answer !== undefined) this.#asks.push([step.request, step.answer])
  }

  readonly #live: (text: string) => string
  readonly #asks: (readonly [request: Spoken, answer: Spoken])[] = []

  /** The outcome as JSON members, and whether it was recorded. */
  async answer(request: Request): Promise<{ readonly outcome: string; readonly report: AskReport }> {
    const { method } = request
    if (method === 'ping') return { outcome: '"result":{}', report: { method, by: 'recorded' } }
    const recorded = this.#find(request)
    if (recorded !== undefined)
      return { outcome: this.#live(outcomeOf(recorded)), report: { method, by: 'recorded' } }
    return { outcome: await this.#byPolicy(request), report: { method, by: 'own' } }
  }

  #find(request: Request): Spoken | undefined {
    this.#index()
    const key = contentKey(request.method, request.params)
    const answers = this.#byContent.get(key) ?? []
    const used = this.#used.get(key) ?? 0
    this.#used.set(key, used + 1)
    return answers[used] ?? answers.at(-1)
  }

  // What was recorded is looked at with the live values that are known by now, which grow with the run.
  #index(): void {
    this.#byContent.clear()
    for (const [request, answer] of this.#asks) {
      const message = parseJson(this.#live(request.text))
      if (!isObject(message)) continue
      const key = contentKey(String(message['method']), message['params'])
      this.#byContent.set(key, [...(this.#byContent.get(key) ?? []), answer])
    }
  }

  async #byPolicy(request: Request): Promise<string> {
    if (typeof this.#policy === 'function') return `"result":${JSON.stringify(await this.#policy(request))}`
    if (this.#policy === 'decline' && request.method === 'elicitation/create')
      return '"result":{"action":"decline"}'
    const message = `Reelay has no recorded answer to ${request.method}`
    return `"error":${JSON.stringify({ code: -1, message })}`
  }
}

/** Progress tokens and the like differ from run to run. */
function contentKey(method: string, params: unknown): string {
  if (!isObject(params)) return canonicalJson([method])
  const { _meta, ...content } = params
  return canonicalJson([method, content])
}

function outcomeOf({ text }: Spoken): string {
  const name = rangeAt(text, ['result']) === undefined ? 'error' : 'result'
  const range = rangeAt(text, [name])
  return `"${name}":${text.slice(range?.start, range?.end)}`
}
