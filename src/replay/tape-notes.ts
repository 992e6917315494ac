import type { Tape } from '../store/file/read.ts'

/** What a tape does not hold of its session: nothing is verified of that, and nobody should think so. */
export function tapeNotes({ ended, problems }: Pick<Tape, 'ended' | 'problems'>): readonly string[] {
  const lines = problems
    .slice(0, MAX_TAPE_PROBLEMS)
    .map(({ line, why }) => `line ${line} of the tape: ${why}`)
  const more = problems.length - lines.length
  return [
    ...lines,
    ...(more > 0 ? [`${more} more lines of the tape cannot be read`] : []),
    ...(ended ? [] : ['the tape has no end: it was cut, or is still being recorded']),
  ]
}

const MAX_TAPE_PROBLEMS = 5
