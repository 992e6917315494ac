import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Request } from '../wire/message.ts'
import type { Carrier } from './carrier.ts'
import type { Notes } from './notes.ts'
import type { Plan } from './plan.ts'
import { GRACE } from './prepare-options.ts'
import type { Revisions } from './revisions.ts'
import type { Tools } from './safety.ts'
import type { ClockOptions } from './verdict/clock.ts'
import type { Judges, Judging } from './verdict/judge.ts'
import { OfficialJudge } from './verdict/official.ts'
import { QuestionsJudge } from './verdict/questions.ts'
import { SchemaJudge } from './verdict/schema.ts'
import { UpdatesJudge } from './verdict/updates.ts'
import { ValuesJudge } from './verdict/values.ts'

interface JudgedRun extends Judging {
  /** When the recording began. */
  readonly started: string
  readonly now: () => number
}

interface Known {
  readonly carrier: Carrier
  readonly tools: Tools
  readonly revisions: Revisions
  readonly notes: Notes
  readonly plan: Plan
  readonly turns: RecordedTurns
  readonly unknown: WeakSet<Request>
}

/** The judges of a run, each with what it is to know. */
export function judgesFor(
  options: JudgedRun,
  { carrier, tools, revisions, notes, plan, turns, unknown }: Known,
): Judges {
  const use = options.validate === false ? 'off' : (options.officialSchema ?? 'changed')
  const official = new OfficialJudge({ use, revisions, turns, onNote: (note) => notes.push(note) })
  const explains: Carrier['explains'] = (expected, actual, path) => carrier.explains(expected, actual, path)
  const values = new ValuesJudge({ judging: options, explains, clock: clockFor(options, plan) })
  const isUnknown = (question: Request): boolean => unknown.has(question)
  const questions = new QuestionsJudge({ judging: options, explains, isUnknown })
  return { schema: new SchemaJudge(() => tools), official, values, questions, judging: options }
}

/** Judges word of changed resources, which belongs to no answer. */
export function updatesFor(plan: Plan, judging: Judging, carrier: Carrier): UpdatesJudge['judge'] {
  const judge = new UpdatesJudge({
    judging,
    explains: (expected, actual, path) => carrier.explains(expected, actual, path),
    recordedOn: (link) => plan.updatesOn(link),
    grace: GRACE,
  })
  return (told) => judge.judge(told)
}

/** A time that lies in the recording, where one in the run has taken its place, is the time of day and no change. */
function clockFor({ started, now }: JudgedRun, { ended }: Plan): ClockOptions {
  const [from, began] = [Date.parse(started), Date.now() - now()]
  return { recorded: { from, to: from + ended }, live: () => ({ from: began, to: Date.now() }) }
}
