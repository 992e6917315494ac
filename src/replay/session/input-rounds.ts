import {
  inputResponseTexts,
  inputRequestTexts,
  type RoundInputTexts,
} from '../../bindings/carry/input-names.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { findRange } from '../../json/find-replace.ts'
import { parseJson, member, isObject, type JsonObject } from '../../json/parse.ts'
import type { Request, Notification } from '../../protocol/message.ts'
import type { Turn } from '../../tape/turns.ts'

const INPUT_RESPONSES = ['params', 'inputResponses']

interface InputRoundsOptions {
  /** Answers a request that was not recorded. Returns JSON members such as `"result":{}`. */
  readonly ask: (request: Request) => Promise<string>
  readonly onNote: (note: string) => void
}

/** Answers rounds of input (modern revisions), also if the live server asks for more than the recorded one did. */
export class InputRounds {
  readonly #options: InputRoundsOptions
  /** For each request that answers a round, the turn that asked for it. Turns are identified by keys because they may be read again. */
  readonly #askedIn = new Map<string, string>()
  readonly #live = new Map<string, RoundInputTexts>()
  /** The recorded answer to each request for input. */
  readonly #answers = new Map<string, string>()

  constructor(turns: Iterable<Turn>, options: InputRoundsOptions) {
    this.#options = options
    for (const [retry, asked] of inputRoundsOf(turns)) {
      this.#askedIn.set(turnKey(retry), turnKey(asked))
      this.#remember(retry, asked)
    }
  }

  /** Remembers the input that the live server requests. */
  learn(turn: Turn, answer: string): void {
    const inputs = this.#askedIn.size === 0 ? undefined : inputRequestTexts(answer)
    if (inputs !== undefined) this.#live.set(turnKey(turn), inputs)
  }

  /** Adds answers to all input that the live server asked for. Returns a promise only if a policy has to answer. */
  complete(turn: Turn, text: string): string | Promise<string> {
    const asked = this.#askedIn.size === 0 ? undefined : this.#askedIn.get(turnKey(turn))
    const wanted = asked === undefined ? undefined : this.#live.get(asked)
    const given = wanted === undefined ? undefined : inputResponseTexts(text)
    if (wanted === undefined || given === undefined) return text
    const more = [...wanted].filter(([name]) => !given.has(name))
    return more.length === 0 ? text : this.#withMore(text, more)
  }

  async #withMore(text: string, requests: readonly (readonly [string, string])[]): Promise<string> {
    const more: string[] = []
    for (const [name, json] of requests) {
      const answer = await this.#answerTo(name, json)
      if (answer !== undefined) more.push(`${JSON.stringify(name)}:${answer}`)
    }
    return appendResponses(text, more)
  }

  async #answerTo(name: string, json: string): Promise<string | undefined> {
    const request = parseJson(json)
    const recorded = this.#answers.get(canonicalJson(request))
    if (recorded !== undefined) return recorded
    const method = String(member(request, 'method'))
    const outcome = await this.#options.ask({
      kind: 'request',
      id: name,
      method,
      params: member(request, 'params'),
    })
    const result = findRange(`{${outcome}}`, ['result'])
    const what = `the server requests ${method} as ${JSON.stringify(name)} in a round of input, which was not recorded`
    this.#options.onNote(`${what}: ${result === undefined ? 'left without an answer' : 'answered by policy'}`)
    return result === undefined ? undefined : `{${outcome}}`.slice(result.start, result.end)
  }

  #remember(retry: Turn, asked: Turn): void {
    const answers = inputResponseTexts(retry.trigger?.text ?? '')
    for (const [name, json] of inputRequestTexts(asked.response?.text ?? '') ?? []) {
      const answer = answers?.get(name)
      if (answer !== undefined) this.#answers.set(canonicalJson(parseJson(json)), answer)
    }
  }
}

function turnKey({ trigger }: Turn): string {
  return `${trigger?.n} ${trigger?.item}`
}

function appendResponses(text: string, more: readonly string[]): string {
  const { start, end } = findRange(text, INPUT_RESPONSES) ?? { start: 0, end: 0 }
  const before = text.slice(start + 1, end - 1).trim()
  return `${text.slice(0, start)}{${[...(before === '' ? [] : [before]), ...more].join(',')}}${text.slice(end)}`
}

/** Returns true if a message of the client answers a round of input. */
export function answersInputRound(message: Request | Notification): boolean {
  return isObject(member(message.params, 'inputResponses'))
}

/** Maps each request that answers a round of input to the turn that asked for it. */
function inputRoundsOf(turns: Iterable<Turn>): ReadonlyMap<Turn, Turn> {
  const rounds = new Map<Turn, Turn>()
  const asked: Turn[] = []
  for (const turn of turns) {
    const answers = inputResponsesIn(turn)
    const asking = answers && asked.findLast((one) => isAnsweredBy(one, turn, answers))
    if (asking !== undefined) rounds.set(turn, asking)
    if (inputRequestsIn(turn) !== undefined) asked.push(turn)
  }
  return rounds
}

function isAnsweredBy(asking: Turn, { trigger }: Turn, answers: JsonObject): boolean {
  const requests = inputRequestsIn(asking) ?? {}
  const [given, back] = [member(turnResult(asking), 'requestState'), stateIn(trigger?.message)]
  return given === back && Object.keys(answers).every((name) => Object.hasOwn(requests, name))
}

function inputResponsesIn({ trigger }: Turn): JsonObject | undefined {
  const answers = member(paramsOf(trigger?.message), 'inputResponses')
  return isObject(answers) ? answers : undefined
}

function inputRequestsIn(turn: Turn): JsonObject | undefined {
  if (turn.response?.text.includes('"inputRequests"') !== true) return undefined
  const requests = member(turnResult(turn), 'inputRequests')
  return isObject(requests) ? requests : undefined
}

function stateIn(message: unknown): unknown {
  return member(paramsOf(message), 'requestState')
}

function paramsOf(message: unknown): unknown {
  return member(message, 'params')
}

function turnResult({ response }: Turn): unknown {
  return response?.message.kind === 'response' && 'result' in response.message.outcome
    ? response.message.outcome.result
    : undefined
}
