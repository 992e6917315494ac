import type { Turn } from '../tape/turn.ts'
import { isObject, member, type JsonObject, type Notification, type Request } from '../protocol/message.ts'

/** Whether a message of the client answers a round of input. */
export function answersInputRound(message: Request | Notification): boolean {
  return isObject(member(message.params, 'inputResponses'))
}

/** For each request that answers a round of input, the turn whose answer had asked for it. */
export function inputRoundsOf(turns: Iterable<Turn>): ReadonlyMap<Turn, Turn> {
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
  const wishes = inputRequestsIn(asking) ?? {}
  const [given, back] = [member(turnResult(asking), 'requestState'), stateIn(trigger?.message)]
  return given === back && Object.keys(answers).every((name) => Object.hasOwn(wishes, name))
}

function inputResponsesIn({ trigger }: Turn): JsonObject | undefined {
  const answers = member(paramsOf(trigger?.message), 'inputResponses')
  return isObject(answers) ? answers : undefined
}

function inputRequestsIn(turn: Turn): JsonObject | undefined {
  if (turn.response?.text.includes('"inputRequests"') !== true) return undefined
  const wishes = member(turnResult(turn), 'inputRequests')
  return isObject(wishes) ? wishes : undefined
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
