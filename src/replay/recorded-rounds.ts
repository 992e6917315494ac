import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { isObject, member, type JsonObject } from '../wire/message.ts'

/** For each request that answers a round of input, the turn whose answer had asked for it. */
export function recordedRounds(turns: RecordedTurns): ReadonlyMap<Turn, Turn> {
  const rounds = new Map<Turn, Turn>()
  if (!hasRounds(turns)) return rounds
  const asked: Turn[] = []
  for (const turn of turns) {
    const answers = answersIn(turn)
    const asking = answers && asked.findLast((one) => isAnsweredBy(one, turn, answers))
    if (asking !== undefined) rounds.set(turn, asking)
    if (wishesIn(turn) !== undefined) asked.push(turn)
  }
  return rounds
}

/** Most tapes have none: then no answer is read for them. */
function hasRounds(turns: RecordedTurns): boolean {
  for (let place = 0; place < turns.size; place++)
    if (turns.trigger(place)?.text.includes('"inputResponses"') === true) return true
  return false
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
