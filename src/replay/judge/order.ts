import type { Notification, Request } from '../../protocol/message.ts'
import { type Judge, type JudgedAnswer, serverMessagesIn } from './judge.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import type { TurnStep } from '../../tape/turns.ts'

/** Checks that the server sends the same requests before its answer, in the same order, also relative to its first progress. */
export const orderJudge: Judge = { judge: judgeOrder }

function judgeOrder({ turn, asides, moved }: JudgedAnswer): readonly StepFinding[] {
  if (asides.length === 0 && turn.steps.every(isAnswer)) return NO_FINDINGS
  const isHere = ({ method }: Request | Notification): boolean => !moved.has(method)
  const expected = milestones(turn.steps.flatMap(serverMessagesIn).filter(isHere))
  const actual = milestones(asides.map(({ message }) => message).filter(isHere))
  const [lost, added] = [missingFrom(actual, expected), missingFrom(expected, actual)]
  const findings = [
    ...counted(lost.filter(isRequest), 'no longer comes before the answer'),
    ...counted(added.filter(isRequest), 'is new'),
  ]
  if (lost.length + added.length > 0 || expected.join() === actual.join()) return findings
  return [{ ...found('the messages before the answer come in another order'), expected, actual }]
}

const PROGRESS = 'progress'

// The layer `notifications` compares progress.
function isRequest(name: string): boolean {
  return name !== PROGRESS
}

// The number of progress messages depends on the machine. Logs and list changes can come at any time.
function milestones(messages: readonly (Request | Notification)[]): readonly string[] {
  const named = messages.flatMap(({ kind, method }) => {
    if (method === 'notifications/progress') return [PROGRESS]
    return kind === 'request' && method !== 'ping' ? [`the request ${method}`] : []
  })
  const first = named.indexOf(PROGRESS)
  return named.filter((name, place) => name !== PROGRESS || place === first)
}

/** The items of `wanted` that are missing, or occur too rarely, in the other list. */
function missingFrom(present: readonly string[], wanted: readonly string[]): readonly string[] {
  const left = new Map<string, number>()
  for (const name of present) left.set(name, (left.get(name) ?? 0) + 1)
  return wanted.filter((name) => {
    const count = left.get(name) ?? 0
    left.set(name, count - 1)
    return count <= 0
  })
}

/** Makes one finding for each different item, with its count. */
function counted(names: readonly string[], words: string): readonly StepFinding[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) =>
    found(`${name} ${words}${count === 1 ? '' : ` (${count} times)`}`),
  )
}

function isAnswer({ kind }: TurnStep): boolean {
  return kind === 'respond'
}

function found(message: string): StepFinding {
  return { layer: 'order', level: 'error', message }
}
