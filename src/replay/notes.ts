import type { Tape } from '../store/file/read.ts'

/** Notes for the report. Equal notes are counted, and their number is limited, so that a misbehaving server cannot fill the memory. */
export class ReplayNotes implements Iterable<string> {
  /** How often each note was added. */
  readonly #counts = new Map<string, number>()
  #more = 0

  push(...notes: readonly string[]): void {
    for (const note of notes) {
      const count = this.#counts.get(note) ?? 0
      if (count > 0 || this.#counts.size < MAX_NOTES) this.#counts.set(note, count + 1)
      else this.#more++
    }
  }

  *[Symbol.iterator](): Iterator<string> {
    for (const [note, count] of this.#counts) yield count === 1 ? note : `${note} (${count} times)`
    if (this.#more > 0) yield `and ${this.#more} more notes`
  }
}

const MAX_NOTES = 50

/** The note about a tool of the tape that the live server does not list. */
export function lostToolNote(name: string): string {
  return `the tool ${name} is lost: the server no longer lists it`
}

/** Notes about parts of the session that are missing on the tape and therefore not verified. */
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
