import { ReelayError } from '../../errors.ts'
import { hasFailed } from '../../replay/failed.ts'
import type { ReplayReport } from '../../replay/report.ts'
import { rewriteMessages } from '../../store/rewrite.ts'
import type { ReplayedTape } from '../../replay/replayed-tape.ts'
import { print } from '../print.ts'

/** Puts the answers that are not as recorded on the tape, and says which; true when that settles everything. */
export async function updateTape(
  tape: ReplayedTape,
  { steps }: Pick<ReplayReport, 'steps'>,
): Promise<boolean> {
  if (!tape.ended) throw notEnded(tape.path)
  const changed = steps.filter(hasFailed)
  const accepted = changed.flatMap((step) => step.acceptable ?? [])
  for (const { frame, method, tool, acceptable } of changed)
    print(
      `${acceptable === undefined ? 'kept    ' : 'accepted'}  #${frame} ${[method, tool].filter(Boolean).join(' ')}\n`,
    )
  if (accepted.length === 0) return false
  if ('close' in tape) tape.close() // an open file cannot be replaced everywhere
  const written = await rewriteMessages(tape.path, new Map(accepted.map(({ frame, text }) => [frame, text])))
  print(
    `${written} ${written === 1 ? 'answer' : 'answers'} on ${tape.path} replaced; all other bytes are as they were\n`,
  )
  return accepted.length === changed.length
}

function notEnded(path: string): ReelayError {
  const hint = 'a tape that is still being recorded, or was cut, is not changed: record it anew'
  return new ReelayError('TAPE_UNWRITABLE', `${path} has no end`, { hint })
}
