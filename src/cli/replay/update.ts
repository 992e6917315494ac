import { ReelayError } from '../../errors.ts'
import { hasFailed } from '../../replay/failed.ts'
import { notableSteps } from '../../replay/kept-steps.ts'
import type { ReplayReport } from '../../replay/report.ts'
import { rewriteMessages } from '../../store/file/rewrite.ts'
import type { ReplayedTape } from '../../replay/replayed-tape.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import type { StepFinding } from '../../replay/verdict/finding.ts'
import { print } from '../output/print.ts'

/** Puts the answers that are not as recorded on the tape, and says which; true when that settles everything. */
export async function acceptAnswers(
  tape: ReplayedTape,
  report: Pick<ReplayReport, 'steps'>,
): Promise<boolean> {
  if (!tape.ended) throw notEnded(tape.path)
  const changed = notableSteps(report).filter(hasFailed)
  for (const step of changed) print(`${EFFECT_TEXT[acceptEffect(step)]}  ${stepName(step)}\n`)
  const accepted = changed.flatMap((step) => (acceptEffect(step) === 'none' ? [] : (step.acceptable ?? [])))
  if (accepted.length === 0) return false
  if ('close' in tape) tape.close() // an open file cannot be replaced everywhere
  const written = await rewriteMessages(tape.path, new Map(accepted.map(({ frame, text }) => [frame, text])))
  print(
    `${written} ${written === 1 ? 'answer' : 'answers'} on ${tape.path} replaced; all other bytes are as they were\n`,
  )
  return changed.every((step) => acceptEffect(step) === 'all')
}

type AcceptEffect = 'all' | 'some' | 'none'

const EFFECT_TEXT: Readonly<Record<AcceptEffect, string>> = {
  all: 'accepted',
  some: 'in part ',
  none: 'kept    ',
}

/** How much of what was found is settled by another answer on the tape: not what the server asked before it, nor how long it took. */
function acceptEffect({ acceptable, findings }: ReplayStep): AcceptEffect {
  const errors = findings.filter(({ level }) => level === 'error')
  const settled = acceptable === undefined ? [] : errors.filter(isAboutAnswer)
  if (settled.length === 0) return 'none'
  return settled.length === errors.length ? 'all' : 'some'
}

function isAboutAnswer({ path }: StepFinding): boolean {
  return path !== undefined && /^(result|error)\b/.test(path)
}

function stepName({ frame, method, tool }: ReplayStep): string {
  return [`#${frame}`, method, tool].filter(Boolean).join(' ')
}

function notEnded(path: string): ReelayError {
  const hint = 'a tape that is still being recorded, or was cut, is not changed: record it anew'
  return new ReelayError('TAPE_UNWRITABLE', `${path} has no end`, { hint })
}
