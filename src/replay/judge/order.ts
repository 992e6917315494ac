import type { TurnStep } from '../../tape/turn.ts'
import type { Notification, Request } from '../../protocol/message.ts'
import { NO_FINDINGS, type StepFinding } from '../verdict/finding.ts'
import type { JudgedAnswer } from './judged-answer.ts'
import { serverMessagesIn } from '../verdict/words-of-server.ts'

/** Whether the server asked and told, on the way to its answer, what it had, in the same order. */
export function judgeOrder({ turn, asides, moved }: JudgedAnswer): readonly StepFinding[] {
  if (asides.length === 0 && turn.steps.every(isAnswer)) return NO_FINDINGS
  const isHere = ({ method }: Request | Notification): boolean => !moved.has(method)
  const expected = milestones(turn.steps.flatMap(serverMessagesIn).filter(isHere))
  const actual = milestones(asides.map(({ message }) => message).filter(isHere))
  const [lost, added] = [missingFrom(actual, expected), missingFrom(expected, actual)]
  const findings = [
    ...counted(lost, 'no longer comes before the answer'),
    ...counted(
      added.filter((station) => station !== PROGRESS),
      'is new',
    ),
  ]
  if (lost.length + added.length > 0 || expected.join() === actual.join()) return findings
  return [{ ...found('it comes in another order'), expected, actual }]
}

const PROGRESS = 'progress'

// How often progress is told depends on the machine; logs and changes of lists come when they like.
function milestones(messages: readonly (Request | Notification)[]): readonly string[] {
  const named = messages.flatMap(({ kind, method }) => {
    if (method === 'notifications/progress') return [PROGRESS]
    return kind === 'request' && method !== 'ping' ? [`the request ${method}`] : []
  })
  const first = named.indexOf(PROGRESS)
  return named.filter((station, place) => station !== PROGRESS || place === first)
}

/** What is wanted more often than it is there, in the order in which it is wanted; a server may say much. */
function missingFrom(stationsThere: readonly string[], wanted: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const station of stationsThere) left.set(station, (left.get(station) ?? 0) + 1)
  return wanted.filter((station) => {
    const count = left.get(station) ?? 0
    left.set(station, count - 1)
    return count <= 0
  })
}

/** Each once, with how often it is. */
function counted(stationsFound: readonly string[], words: string): readonly StepFinding[] {
  const counts = new Map<string, number>()
  for (const station of stationsFound) counts.set(station, (counts.get(station) ?? 0) + 1)
  return [...counts].map(([station, count]) =>
    found(`${station} ${words}${count === 1 ? '' : ` (${count} times)`}`),
  )
}

function isAnswer({ kind }: TurnStep): boolean {
  return kind === 'respond'
}

function found(message: string): StepFinding {
  return { layer: 'order', level: 'error', message }
}
