import type { Notification, Request } from '../../protocol/message.ts'
import {
  type Judge,
  type JudgedAnswer,
  NO_FINDINGS,
  serverMessagesIn,
  type StepFinding,
} from './judged-answer.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import type { InterimMessage } from '../session/live-calls.ts'
import type { LiveNotifications } from '../session/live-notifications.ts'
import type { TurnStep } from '../../tape/turns.ts'

/** Checks that the server sends the same requests and progress before its answer, in the same order. */
export const orderJudge: Judge = { judge: judgeOrder }

function judgeOrder({ turn, asides, moved }: JudgedAnswer): readonly StepFinding[] {
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

// The number of progress messages depends on the machine. Logs and list changes can come at any time.
function milestones(messages: readonly (Request | Notification)[]): readonly string[] {
  const named = messages.flatMap(({ kind, method }) => {
    if (method === 'notifications/progress') return [PROGRESS]
    return kind === 'request' && method !== 'ping' ? [`the request ${method}`] : []
  })
  const first = named.indexOf(PROGRESS)
  return named.filter((station, place) => station !== PROGRESS || place === first)
}

/** The items of `wanted` that are missing, or occur too rarely, in the other list. */
function missingFrom(stationsThere: readonly string[], wanted: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const station of stationsThere) left.set(station, (left.get(station) ?? 0) + 1)
  return wanted.filter((station) => {
    const count = left.get(station) ?? 0
    left.set(station, count - 1)
    return count <= 0
  })
}

/** Makes one finding for each different item, with its count. */
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

/**
 * Returns the methods of requests that the server sent at another time than recorded. Nothing in a request tells which call it
 * belongs to, so only the total number on the link counts. Waits a moment for late ones.
 */
export async function movedRequests(
  { turn, heard: before, asksInAll }: PlannedMessage,
  asides: readonly InterimMessage[],
  { heard, grace }: { heard: LiveNotifications; grace: number },
): Promise<ReadonlySet<string>> {
  if (asksInAll.size === 0 && asides.length === 0) return NOTHING_MOVED
  const [then, now] = [
    countMethods(turn.steps.flatMap(recordedMethod)),
    countMethods(asides.flatMap(liveMethod)),
  ]
  const missing = [...then].filter(([method, count]) => (now.get(method) ?? 0) < count)
  const wanted = new Map(missing.map(([method, count]) => [method, (before.get(method) ?? 0) + count]))
  const lost = new Set(wanted.size === 0 ? [] : await heard.waitForCounts(wanted, grace))
  const early = [...now.keys()].filter(
    (method) =>
      (now.get(method) ?? 0) > (then.get(method) ?? 0) && heard.count(method) <= (asksInAll.get(method) ?? 0),
  )
  return new Set([...[...wanted.keys()].filter((method) => !lost.has(method)), ...early])
}

const NOTHING_MOVED: ReadonlySet<string> = new Set()

function recordedMethod(step: TurnStep): readonly string[] {
  return step.kind === 'ask' && 'method' in step.request.message ? [step.request.message.method] : []
}

function liveMethod({ message }: InterimMessage): readonly string[] {
  return message.kind === 'request' ? [message.method] : []
}

function countMethods(methods: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const method of methods) counts.set(method, (counts.get(method) ?? 0) + 1)
  return counts
}
