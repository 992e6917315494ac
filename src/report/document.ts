import { canonicalJson } from '../json/canonical.ts'
import { hashText } from '../json/hash.ts'
import type { RuleId } from './rules.ts'

/**
 * What a command found, in one form for every command and every report format. Formats read nothing else, so a new format works for all
 * commands, and a new command has all formats.
 */
export interface ReportDocument {
  /** Such as `verify` or `contract check`. */
  readonly command: string
  /** What was judged, such as a tape and a server. */
  readonly subject: string
  /** The tape or contract that the findings belong to. */
  readonly file: string
  readonly verdict: ReportVerdict
  /** One line. */
  readonly summary: string
  /** ISO date, and milliseconds. */
  readonly started?: string
  readonly duration?: number
  readonly notes: readonly string[]
  /** The command line that makes this report again. */
  readonly reproduce: string
  /** Everything that was judged, including what passed. It can be read more than once, and may be long. */
  readonly items: Iterable<ReportItem>
}

/** `none`: the command shows something and judges nothing. */
type ReportVerdict = 'pass' | 'fail' | 'incomplete' | 'none'

/** One thing that was judged, such as an exchange or a tool. */
export interface ReportItem {
  /** Such as `#12 tools/call search`. */
  readonly name: string
  /** What items of the same kind have in common, such as `tools/call`. */
  readonly group: string
  readonly status: 'passed' | 'failed' | 'warned' | 'skipped'
  /** The number of the exchange. */
  readonly exchange?: number
  /** The line in the file. */
  readonly line?: number
  /** Milliseconds. */
  readonly duration?: number
  /** Why it was skipped. */
  readonly reason?: string
  readonly findings: readonly ReportFinding[]
  /** The command line that shows this item alone. */
  readonly reproduce?: string
}

export interface ReportFinding {
  readonly rule: RuleId
  readonly severity: FindingSeverity
  /** One sentence. */
  readonly message: string
  readonly path?: string
  readonly before?: unknown
  readonly after?: unknown
  /** Stays the same as long as the finding is the same, however it is worded and wherever it is in a list. */
  readonly fingerprint: string
}

export type FindingSeverity = 'error' | 'warning' | 'note'

/** Names a finding by its rule, its call, and its path without positions in lists. */
export function findingFingerprint(rule: string, call: string, path = ''): string {
  const { low, high } = hashText(canonicalJson([rule, call, path.replaceAll(/\[\d+\]/g, '[*]')]))
  return [high, low].map((half) => half.toString(16).padStart(8, '0')).join('')
}

export interface ItemCounts {
  readonly total: number
  readonly passed: number
  readonly failed: number
  readonly warned: number
  readonly skipped: number
}

export function countItems(items: Iterable<ReportItem>): ItemCounts {
  const counts = { total: 0, passed: 0, failed: 0, warned: 0, skipped: 0 }
  for (const { status } of items) {
    counts.total++
    counts[status]++
  }
  return counts
}

/** The items that somebody should look at, those that failed before those that warn. */
export function* notableItems(items: Iterable<ReportItem>): Generator<ReportItem> {
  for (const item of items) if (item.status === 'failed') yield item
  for (const item of items) if (item.status === 'warned') yield item
}

/** A list that is made again each time it is read. */
export function lazily<Item>(make: () => Iterable<Item>): Iterable<Item> {
  return { [Symbol.iterator]: () => make()[Symbol.iterator]() }
}
