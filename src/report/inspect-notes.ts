import { styleText } from 'node:util'
import type { EventFrame, RawFrame, StderrFrame } from '../tape/frame.ts'
import type { Spoken } from '../tape/turn.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { durationText } from './duration.ts'
import { messageLines, titleOf } from './inspect-messages.ts'
import { missesOf, type Inspection } from './inspect.ts'
import type { Outcome } from './outcome.ts'
import { visible } from '../wire/visible.ts'

/** So many lines of a kind are shown to who does not want them all. */
export const FEW = 5

/** What is worth knowing of a tape beside its exchanges. */
export interface Notes extends Pick<Inspection, 'latency' | 'problems' | 'ended' | 'unknownFrames'> {
  readonly misses: readonly Miss[]
  readonly outside: readonly string[]
  readonly stderr: FirstLines
  readonly raw: FirstLines
  readonly events: readonly string[]
}

/** A request that a tape, played as a server, could not answer. */
export interface Miss {
  readonly sequence: number
  readonly message: string
}

/** The first of some lines, and how many there are. */
export interface FirstLines {
  readonly lines: readonly string[]
  readonly count: number
}

/** Each note under its own word; nothing is said about what did not happen. */
export function noteLines(notes: Notes): readonly string[] {
  return [
    ...note('latency', latencyLines(notes)),
    ...note('misses', notes.misses.map(missLine)),
    ...note('outside', notes.outside),
    ...note('stderr', firstOf(notes.stderr)),
    ...note('raw', firstOf(notes.raw)),
    ...note('events', notes.events),
    ...note('problems', problemLines(notes)),
  ]
}

/** The notes of a tape in memory. */
export function notesOf(inspection: Inspection, verbose: boolean): Notes {
  const { outside, stderr, raw, events } = inspection
  const most = verbose ? Infinity : FEW
  return {
    ...inspection,
    misses: missesOf(inspection).map(({ sequence, outcome }) => ({ sequence, message: messageOf(outcome) })),
    outside: verbose ? outside.flatMap(messageLines) : countedLines(outside.map(outsideTitle)),
    stderr: firstLines(stderrLines(stderr), most),
    raw: firstLines(raw.map(rawLine), most),
    events: verbose ? events.map(eventLine) : [],
  }
}

function note(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${styleText('dim', (index === 0 ? label : '').padEnd(9))} ${line}`)
}

function latencyLines({ latency }: Notes): readonly string[] {
  if (latency === undefined) return []
  const { answered, medianMs, p95Ms, maxMs } = latency
  const [median, p95, longest] = [medianMs, p95Ms, maxMs].map(durationText)
  return [`${answered} answered: median ${median}, p95 ${p95}, longest ${longest}`]
}

function missLine({ sequence, message }: Miss): string {
  return visible(`exchange ${sequence}: ${message}`)
}

function messageOf(outcome: Outcome): string {
  return outcome.kind === 'miss' ? outcome.message : ''
}

/** What a message outside of exchanges is, in a few words. */
export function outsideTitle(spoken: Spoken): string {
  return `${spoken.dir === 'c2s' ? '→' : '←'} ${titleOf(spoken)}`
}

function countedLines(titles: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1)
  return countLines(counts)
}

export function countLines(counts: ReadonlyMap<string, number>): readonly string[] {
  return [...counts].map(([title, count]) => (count === 1 ? title : `${title}, ${count} times`))
}

/** Chunks of stderr are cut anywhere, so lines are made after joining those of one link. */
function stderrLines(frames: readonly StderrFrame[]): readonly string[] {
  const texts = new Map<string, string>()
  for (const { server, conn, stderr } of frames) {
    const key = JSON.stringify([server, conn])
    texts.set(key, (texts.get(key) ?? '') + stderr)
  }
  return [...texts.values()].flatMap((text) => text.replace(/\r?\n$/, '').split(/\r?\n/)).map(visible)
}

export function rawLine({ dir, raw, why }: RawFrame): string {
  return visible(`${dir === 'c2s' ? '→' : '←'} ${raw} (${why})`)
}

function eventLine({ t, event, details }: EventFrame): string {
  return visible(`+${durationText(t)} ${event} ${canonicalJson(details)}`)
}

function problemLines({ problems, ended, unknownFrames }: Notes): readonly string[] {
  const lines = problems.map(({ line, why }) => visible(`line ${line}: ${why}`))
  if (!ended) lines.push('the tape has no end: it was cut, or is still being written')
  if (unknownFrames > 0) lines.push(`${unknownFrames} frames are of a kind that this version does not know`)
  return lines.map((line) => styleText('yellow', line))
}

/** As many of them as are shown. */
function firstLines(lines: readonly string[], most: number = FEW): FirstLines {
  return { lines: lines.slice(0, most), count: lines.length }
}

function firstOf({ lines, count }: FirstLines): readonly string[] {
  if (count <= lines.length) return lines
  return [...lines, styleText('dim', `and ${count - lines.length} more, shown by -v`)]
}
