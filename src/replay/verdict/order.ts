import type { Step } from '../../tape/turn.ts'
import type { Notification, Request } from '../../wire/message.ts'
import type { Finding } from './finding.ts'
import type { Judged } from './judged.ts'

/** Whether the server asked and told, on the way to its answer, what it had, in the same order. */
export function judgeOrder({ turn, asides, moved }: Judged): readonly Finding[] {
  if (asides.length === 0 && turn.steps.every(({ kind }) => kind === 'respond')) return []
  const isHere = ({ method }: Request | Notification): boolean => !moved.has(method)
  const expected = stations(turn.steps.flatMap(wordsOfServer).filter(isHere))
  const actual = stations(asides.map(({ message }) => message).filter(isHere))
  const [lost, added] = [missingFrom(actual, expected), missingFrom(expected, actual)]
  const findings = [
    ...lost.map((station) => found(`${station} no longer comes before the answer`)),
    ...added.filter((station) => station !== PROGRESS).map((station) => found(`${station} is new`)),
  ]
  if (lost.length + added.length > 0 || expected.join() === actual.join()) return findings
  return [{ ...found('it comes in another order'), expected, actual }]
}

const PROGRESS = 'progress'

function wordsOfServer(step: Step): readonly (Request | Notification)[] {
  if (step.kind === 'respond') return []
  const { message } = step.kind === 'ask' ? step.request : step.message
  return message.kind === 'request' || message.kind === 'notification' ? [message] : []
}

// How often progress is told depends on the machine; logs and changes of lists come when they like.
function stations(messages: readonly (Request | Notification)[]): readonly string[] {
  const named = messages.flatMap(({ kind, method }) => {
    if (method === 'notifications/progress') return [PROGRESS]
    return kind === 'request' && method !== 'ping' ? [`the request ${method}`] : []
  })
  return named.filter((station, place) => station !== PROGRESS || !named.slice(0, place).includes(PROGRESS))
}

function missingFrom(stationsThere: readonly string[], wanted: readonly string[]): readonly string[] {
  const left = [...stationsThere]
  return wanted.filter((station) => {
    const place = left.indexOf(station)
    if (place >= 0) left.splice(place, 1)
    return place < 0
  })
}

function found(message: string): Finding {
  return { layer: 'order', level: 'error', message }
}
