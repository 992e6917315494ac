import { styleText } from 'node:util'
import type { StderrFrame } from '../tape/frame.ts'
import type { Spoken } from '../tape/turn.ts'
import { canonicalJson } from '../wire/canonical.ts'
import { durationText } from './duration.ts'
import { messageLines, titleOf } from './inspect-messages.ts'
import { missesOf, type Inspection } from './inspect.ts'
import { visible } from '../wire/visible.ts'

const FEW = 5

/** What is worth knowing beside the exchanges, each under its own word; nothing is said about what did not happen. */
export function noteLines(inspection: Inspection, verbose: boolean): readonly string[] {
  const all = verbose ? Infinity : FEW
  return [
    ...note('latency', latencyLines(inspection)),
    ...note('misses', missLines(inspection)),
    ...note('outside', verbose ? inspection.outside.flatMap(messageLines) : outsideLines(inspection.outside)),
    ...note('stderr', firstOf(all, stderrLines(inspection.stderr))),
    ...note('raw', firstOf(all, rawLines(inspection))),
    ...note('events', verbose ? eventLines(inspection) : []),
    ...note('problems', problemLines(inspection)),
  ]
}

function note(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${styleText('dim', (index === 0 ? label : '').padEnd(9))} ${line}`)
}

function latencyLines({ latency }: Inspection): readonly string[] {
  if (latency === undefined) return []
  const { answered, medianMs, p95Ms, maxMs } = latency
  const [median, p95, longest] = [medianMs, p95Ms, maxMs].map(durationText)
  return [`${answered} answered: median ${median}, p95 ${p95}, longest ${longest}`]
}

function missLines(inspection: Inspection): readonly string[] {
  return missesOf(inspection).map(({ sequence, outcome }) =>
    visible(`exchange ${sequence}: ${outcome.kind === 'miss' ? outcome.message : ''}`),
  )
}

function outsideLines(outside: readonly Spoken[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const spoken of outside) {
    const title = `${spoken.dir === 'c2s' ? '→' : '←'} ${titleOf(spoken)}`
    counts.set(title, (counts.get(title) ?? 0) + 1)
  }
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

function rawLines({ raw }: Inspection): readonly string[] {
  return raw.map((frame) => visible(`${frame.dir === 'c2s' ? '→' : '←'} ${frame.raw} (${frame.why})`))
}

function eventLines({ events }: Inspection): readonly string[] {
  return events.map(({ t, event, details }) =>
    visible(`+${durationText(t)} ${event} ${canonicalJson(details)}`),
  )
}

function problemLines({ problems, ended, unknownFrames }: Inspection): readonly string[] {
  const lines = problems.map(({ line, why }) => visible(`line ${line}: ${why}`))
  if (!ended) lines.push('the tape has no end: it was cut, or is still being written')
  if (unknownFrames > 0) lines.push(`${unknownFrames} frames are of a kind that this version does not know`)
  return lines.map((line) => styleText('yellow', line))
}

function firstOf(count: number, lines: readonly string[]): readonly string[] {
  if (lines.length <= count) return lines
  return [...lines.slice(0, count), styleText('dim', `and ${lines.length - count} more, shown by -v`)]
}
