import { member } from '../../json/parse.ts'
import { formatPath } from '../../json/path.ts'
import { NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import {
  findSeries,
  liveObservation,
  observationText,
  type ObservedNotification,
  recordedObservation,
  shapeOf,
  type RequestObservation,
} from '../steps/observed-notifications.ts'
import type { Judge, JudgedAnswer } from './judge.ts'
import type { ValuesJudge } from './values.ts'

/** Checks that the server reports the recorded progress before its answer. */
export class NotificationsJudge implements Judge {
  readonly #values: Pick<ValuesJudge, 'compareTexts'>

  constructor(values: Pick<ValuesJudge, 'compareTexts'>) {
    this.#values = values
  }

  judge(judged: JudgedAnswer): readonly StepFinding[] {
    const [then = NO_PROGRESS, now = NO_PROGRESS] = comparable(judged)
    if (then.notifications.length + now.notifications.length === 0) return NO_FINDINGS
    const isInSeries = findSeries(then.notifications, now.notifications)
    const differences = this.#values
      .compareTexts(judged, observationText(then) ?? '', observationText(now) ?? '')
      .filter(
        (finding) => !isAboutEnd(finding) || isLessComplete(then, now) || hasOtherEnd(finding, then, now),
      )
      .map((finding) => notificationFinding(finding, isInSeries))
    return [...differences, ...decreasing(then, now)]
  }
}

function notificationFinding(
  finding: StepFinding,
  isInSeries: (notification: unknown) => boolean,
): StepFinding {
  const { difference } = finding
  const one = difference?.path.length === 2 ? (difference.expected ?? difference.actual) : undefined
  const isOneOfMany = one !== undefined && isInSeries(one)
  return { ...finding, layer: 'notifications', ...(isOneOfMany && { isOneOfMany }) }
}

const NO_PROGRESS: RequestObservation = { notifications: [], lastProgress: null }

type Observations = readonly [RequestObservation | undefined, RequestObservation | undefined]

/** How much progress a request had made when it was cancelled depends on the moment, so only reports that both sides have count. */
function comparable({ turn, end, asides }: JudgedAnswer): Observations {
  const [then, now] = [recordedObservation(turn), liveObservation(asides)].map(withoutRequests)
  if (end.kind !== 'open' || then === undefined || now === undefined) return [then, now]
  const count = Math.min(then.notifications.length, now.notifications.length)
  return [firstReports(then, count), firstReports(now, count)]
}

/** What the server asks is checked by a judge of its own. */
function withoutRequests(observed: RequestObservation | undefined): RequestObservation | undefined {
  if (observed?.requests === undefined) return observed
  const { notifications, lastProgress } = observed
  return { notifications, lastProgress }
}

function firstReports({ notifications }: RequestObservation, count: number): RequestObservation {
  return { notifications: notifications.slice(0, count), lastProgress: null }
}

function isAboutEnd({ difference, path }: StepFinding): boolean {
  return difference === undefined ? path === END : difference.path[0] === END
}

const END: keyof RequestObservation = 'lastProgress'

/**
 * With the same number of reports, the last ones are compared like the others. A request that reports more progress than recorded
 * is not less complete.
 */
function isLessComplete(then: RequestObservation, now: RequestObservation): boolean {
  return (
    then.notifications.length !== now.notifications.length &&
    now.notifications.length > 0 &&
    completeness(now.lastProgress) < completeness(then.lastProgress)
  )
}

/** Returns true if another number of reports ends with other words. With the same number, the last ones are compared like the others. */
function hasOtherEnd(
  { difference }: StepFinding,
  then: RequestObservation,
  now: RequestObservation,
): boolean {
  if (then.notifications.length === now.notifications.length || difference === undefined) return false
  const { path, expected, actual } = difference
  return path.at(-1) === 'message' && shapeOf(expected) !== shapeOf(actual)
}

/** The completed share if the total is known, otherwise the number that was reported. */
function completeness(params: unknown): number {
  const [progress, total] = [Number(member(params, 'progress')), Number(member(params, 'total'))]
  return total > 0 ? progress / total : progress
}

/** The protocol requires that progress increases. It is not noise if it does not. */
function decreasing(then: RequestObservation, now: RequestObservation): readonly StepFinding[] {
  const place = firstDecrease(now.notifications)
  if (place < 0 || firstDecrease(then.notifications) >= 0) return NO_FINDINGS
  const path = formatPath(['notifications', place, 'params', 'progress'])
  const actual = progressOf(now.notifications[place])
  return [
    {
      layer: 'notifications',
      level: 'error',
      message: 'the progress no longer increases',
      path,
      actual,
      isNeverNoise: true,
    },
  ]
}

function firstDecrease(notifications: readonly ObservedNotification[]): number {
  return notifications.findIndex(
    (one, place) => place > 0 && Number(progressOf(one)) <= Number(progressOf(notifications[place - 1])),
  )
}

function progressOf(notification: ObservedNotification | undefined): unknown {
  return member(notification?.params, 'progress')
}
