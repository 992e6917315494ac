import { ReelayError } from '../errors.ts'
import { applyEdits, type Edit } from './edit.ts'
import { entriesOf, type Looked, type Open } from './open-config.ts'
import type { Outcome, WrapResult } from './outcome.ts'
import type { Target } from './targets.ts'
import { unifiedDiff } from './unified-diff.ts'

/** What is to become of some entries, and what a job has to note about it. */
export interface Plan<Note> {
  readonly outcomes: readonly Outcome[]
  readonly edits: readonly Edit[]
  readonly notes: readonly Note[]
}

export interface ConfigChange<Note> {
  readonly dryRun: boolean
  readonly plan: (open: Open) => Plan<Note>
  /** Writes the text, when something changes in it, and keeps the notes. */
  readonly carryOut: (open: Open, plan: Plan<Note>, text: string) => void
}

/** Plans and makes a change in every config; one that is refused does not keep the others from being changed. */
export function changeConfigs<Note>(looked: readonly Looked[], change: ConfigChange<Note>): WrapResult {
  const results = looked.map((each) => {
    if (each.kind === 'refused') return refused(each.target, each.error)
    try {
      return changeOne(each, change)
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      return refused(each.target, error)
    }
  })
  return {
    dryRun: change.dryRun,
    outcomes: results.flatMap(({ outcomes }) => outcomes),
    diffs: results.flatMap(({ diffs }) => diffs),
  }
}

/** Several plans for one file as one. */
export function joined<Note>(plans: readonly Plan<Note>[]): Plan<Note> {
  return {
    outcomes: plans.flatMap(({ outcomes }) => outcomes),
    edits: plans.flatMap(({ edits }) => edits),
    notes: plans.flatMap(({ notes }) => notes),
  }
}

type FileResult = Pick<WrapResult, 'outcomes' | 'diffs'>

function changeOne<Note>(open: Open, { dryRun, plan: planFor, carryOut }: ConfigChange<Note>): FileResult {
  const { target, config } = open
  const plan = planFor(open)
  const { outcomes, edits } = plan
  const text = applyEdits(config.text, edits)
  entriesOf(target, text) // what we cannot read ourselves is never written
  if (!dryRun) carryOut(open, plan, text)
  return { outcomes, diffs: edits.length === 0 ? [] : [unifiedDiff(target.file, config.text, edits)] }
}

function refused({ client, file }: Target, { code, message, hint }: ReelayError): FileResult {
  const outcome = { client: client.name, file, code, why: message, hint: hint ?? null }
  return { outcomes: [{ kind: 'refused', ...outcome }], diffs: [] }
}
