import type { Turn } from '../tape/turn.ts'
import { isObject, member, type JsonObject, type Notification, type Request } from '../wire/message.ts'

/** Whether a message of the client answers a round of input. */
export function isAnswering(message: Request | Notification): boolean {
  return isObject(member(message.params, 'inputResponses'))
}

/** For each request that answers a round of input, the turn whose answer had asked for it. */
export function recordedRounds(turns: Iterable<Turn>): ReadonlyMap<Turn, Turn> {
  const rounds = new Map<Turn, Turn>()
  const asked: Turn[] = []
  for (const turn of turns) {
    const answers = answersIn(turn)
    const asking = answers && asked.findLast((one) => isAnsweredBy(one, turn, answers))
    if (asking !== undefined) rounds.set(turn, asking)
    if (wishesIn(turn) !== undefined) asked.push(turn)
  }
  return rounds
}

function isAnsweredBy(asking: Turn, { trigger }: Turn, answers: JsonObject): boolean {
  const wishes = wishesIn(asking) ?? {}
  const [given, back] = [member(resultOf(asking), 'requestState'), stateIn(trigger?.message)]
  return given === back && Object.keys(answers).every((name) => Object.hasOwn(wishes, name))
}

function answersIn({ trigger }: Turn): JsonObject | undefined {
  const answers = member(paramsOf(trigger?.message), 'inputResponses')
  return isObject(answers) ? answers : undefined
}

function wishesIn(turn: Turn): JsonObject | undefined {
  if (turn.response?.text.includes('"inputRequests"') !== true) return undefined
  const wishes = member(resultOf(turn), 'inputRequests')
  return isObject(wishes) ? wishes : undefined
}

function stateIn(message: unknown): unknown {
  return member(paramsOf(message), 'requestState')
}

function paramsOf(message: unknown): unknown {
  return member(message, 'params')
}

function resultOf({ response }: Turn): unknown {
  return response?.message.kind === 'response' && 'result' in response.message.outcome
    ? response.message.outcome.result
    : undefined
}
