import type { ShrinkResult } from '../../shrink/shrink.ts'
import { escapeControlChars } from '../../text.ts'
import { formatDuration } from '../table.ts'

/** A shrunk session with the files that were written. */
export interface ShrinkReport extends ShrinkResult {
  readonly story: readonly string[]
  readonly capsules: readonly string[]
  /** The command line that runs the capsule. */
  readonly rerun: string | undefined
}

export function shrinkAsText(report: ShrinkReport): string {
  const { failure, messages, edits, probes, duration, path, capsules, story, smallest, rerun } = report
  const lines = [
    `${failure.call} fails: ${failure.summary}`,
    ...story.slice(0, -1).map((line, at) => `  ${at + 1}. ${line}`),
    '',
    `${messages.after} of ${messages.before} messages are needed${edits === 0 ? '' : `, ${edits} with smaller values`} (${probes} ${probes === 1 ? 'try' : 'tries'} in ${formatDuration(duration)})`,
    `the smallest session failed in ${smallest.failed} of ${smallest.of} runs${flakyNote(report)}`,
    ...modeNotes(report),
    `wrote ${[path, ...capsules].join(', ')}`,
    ...(rerun === undefined ? [] : [`run it again: ${rerun}`]),
  ]
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}

function flakyNote({ measured: { failed, of } }: ShrinkReport): string {
  return failed === of ? '' : `; before, it failed in ${failed} of ${of} runs`
}

function modeNotes({ isSequential, hasPauses, stopped, messages }: ShrinkReport): readonly string[] {
  return [
    ...(!isSequential && messages.after > 1
      ? ['it needs requests that are open at the same time, as on the tape']
      : []),
    ...(hasPauses ? ['it needs the pauses of the tape'] : []),
    ...(stopped === 'budget' ? ['the search ended early: allow more with --probes or --for'] : []),
    ...(stopped === 'interrupted' ? ['the search was interrupted'] : []),
  ]
}

export function shrinkAsJson(report: ShrinkReport): string {
  return `${JSON.stringify(report, undefined, 2)}\n`
}
