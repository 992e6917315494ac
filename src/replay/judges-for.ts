import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Request } from '../protocol/message.ts'
import type { CarriedValues } from './values/carried-values.ts'
import type { ReplayNotes } from './notes.ts'
import type { ReplayPlan } from './plan/plan.ts'
import { SERVER_GRACE } from './prepare-options.ts'
import type { ProtocolRevisions } from './plan/revisions.ts'
import type { ToolDescriptions } from './plan/tool-safety.ts'
import type { ClockOptions } from './judge/clock.ts'
import type { Judges, JudgeOptions } from './judge/judge.ts'
import { OfficialJudge } from './judge/official-schema.ts'
import { ServerRequestJudge } from './judge/server-requests.ts'
import { OutputSchemaJudge } from './judge/output-schema.ts'
import { ResourceUpdatesJudge } from './judge/resource-updates.ts'
import { ValuesJudge } from './judge/values.ts'

interface JudgedRunOptions extends JudgeOptions {
  /** When the recording began. */
  readonly started: string
  readonly now: () => number
}

interface JudgeContext {
  readonly carrier: CarriedValues
  readonly tools: ToolDescriptions
  readonly revisions: ProtocolRevisions
  readonly notes: ReplayNotes
  readonly plan: ReplayPlan
  readonly turns: RecordedTurns
  readonly unknown: WeakSet<Request>
}

/** The judges of a run, each with what it is to know. */
export function createJudges(
  options: JudgedRunOptions,
  { carrier, tools, revisions, notes, plan, turns, unknown }: JudgeContext,
): Judges {
  const use = options.validate === false ? 'off' : (options.officialSchema ?? 'changed')
  const official = new OfficialJudge({ use, revisions, turns, onNote: (note) => notes.push(note) })
  const explains: CarriedValues['explains'] = (expected, actual, path) =>
    carrier.explains(expected, actual, path)
  const values = new ValuesJudge({ judging: options, explains, clock: clockOptions(options, plan) })
  const isUnknown = (question: Request): boolean => unknown.has(question)
  const serverRequests = new ServerRequestJudge({ judging: options, explains, isUnknown })
  return {
    schema: new OutputSchemaJudge(() => tools),
    official,
    values,
    serverRequests,
    judging: options,
  }
}

/** Judges word of changed resources, which belongs to no answer. */
export function createUpdatesJudge(
  plan: ReplayPlan,
  judging: JudgeOptions,
  carrier: CarriedValues,
): ResourceUpdatesJudge['judge'] {
  const judge = new ResourceUpdatesJudge({
    judging,
    explains: (expected, actual, path) => carrier.explains(expected, actual, path),
    recordedOn: (link) => plan.resourceUpdatesOn(link),
    grace: SERVER_GRACE,
  })
  return (told) => judge.judge(told)
}

/** A time that lies in the recording, where one in the run has taken its place, is the time of day and no change. */
function clockOptions({ started, now }: JudgedRunOptions, { ended }: ReplayPlan): ClockOptions {
  const [from, began] = [Date.parse(started), Date.now() - now()]
  return { recorded: { from, to: from + ended }, live: () => ({ from: began, to: Date.now() }) }
}
