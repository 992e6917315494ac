import { createDiffer } from '../diff/diff.ts'
import type { Difference } from '../diff/difference.ts'
import { formatPath } from '../json/path.ts'
import { member } from '../json/parse.ts'
import type { HandshakeResult } from './session/handshake.ts'
import type { Tape } from '../store/file/read.ts'
import type { Turn } from '../tape/turns.ts'

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

/**
 * Notes about differences between the live handshake and the recorded ones, which are in `openings`. They are notes and not
 * findings because Reelay's own handshake is not part of the tape.
 */
export function handshakeNotes(
  { version, result }: HandshakeResult,
  openings: readonly Turn[],
): readonly string[] {
  const then = openings.map(recordedResult).find((one) => one !== undefined)
  if (then === undefined) return []
  const before = member(then, 'protocolVersion')
  return [
    ...(version === before ? [] : [`the server speaks ${String(version)}, recorded ${String(before)}`]),
    ...(serverName(result) === serverName(then)
      ? []
      : [`the server is ${serverName(result)}, recorded ${serverName(then)}`]),
    ...DIFFER.values(announcedFeatures(then), announcedFeatures(result))
      .slice(0, MAX_HANDSHAKE_NOTES)
      .map(describeChange),
  ]
}

const DIFFER = createDiffer({ order: 'kept' })

/** A different server differs in everything; the first differences are enough to see that. */
const MAX_HANDSHAKE_NOTES = 5

function recordedResult({ response }: Turn): unknown {
  return response?.message.kind === 'response' && 'result' in response.message.outcome
    ? response.message.outcome.result
    : undefined
}

function serverName(result: unknown): string {
  const info = member(result, 'serverInfo')
  return `${String(member(info, 'name'))} ${String(member(info, 'version'))}`
}

/** The parts of the handshake that a client relies on. */
function announcedFeatures(result: unknown): unknown {
  const [capabilities, instructions] = [member(result, 'capabilities'), member(result, 'instructions')]
  return { capabilities: capabilities ?? {}, instructions: instructions ?? '' }
}

function describeChange({ kind, path }: Difference): string {
  return `in the handshake, ${formatPath(path)} ${CHANGE_WORDS[kind]}; use --handshake recorded to compare it`
}

const CHANGE_WORDS: Readonly<Record<Difference['kind'], string>> = {
  added: 'is new',
  removed: 'is missing',
  changed: 'has changed',
  type: 'has changed',
  order: 'has another order',
  format: 'has another format',
}
