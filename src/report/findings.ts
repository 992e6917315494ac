import { styleText } from 'node:util'
import { describeValue } from '../match/describe-request.ts'
import type { ContractCheck } from '../compare/check-contract.ts'
import type { TapeDiff, ExchangeChange } from '../compare/diff-tapes.ts'
import type { LatencyChange } from '../compare/latency.ts'
import { finding, type Finding, type FindingLevel } from '../compare/rules.ts'
import { isObject } from '../json/parse.ts'
import { escapeControlChars } from '../text.ts'
import { jsonDocument, jsonValue } from './json-text.ts'
import { alignRows, columnTitle, formatDuration, type TextStyle } from './table.ts'

const LEVEL_STYLES: Readonly<Record<FindingLevel, TextStyle>> = {
  breaking: 'red',
  security: 'red',
  unknown: 'yellow',
  change: 'yellow',
  addition: 'green',
  info: 'dim',
}

/** One finding on one line: level, rule, what it is about, and what was found. */
function findingText(found: Finding, more = ''): string {
  const { level, rule, path, message } = found
  const values = valuesText(found)
  const words = [path, message, values, more].filter((word) => word !== undefined && word !== '')
  const label = styleText(LEVEL_STYLES[level], level.padEnd(8))
  const mark =
    found.fingerprint === undefined || !NEEDS_REVIEW.has(level)
      ? ''
      : `  ${styleText('dim', found.fingerprint)}`
  const line = `  ${label}  ${styleText('dim', rule)}  ${escapeControlChars(words.join('  '))}${mark}`
  return isCall(found.witness) ? `${line}\n            ${callLine(found.witness)}` : line
}

const NEEDS_REVIEW: ReadonlySet<FindingLevel> = new Set(['breaking', 'security', 'unknown'])

interface WitnessCall {
  readonly name: string
  readonly arguments: unknown
}

function isCall(witness: unknown): witness is WitnessCall {
  return isObject(witness) && typeof witness['name'] === 'string' && Object.hasOwn(witness, 'arguments')
}

/** A call that shows the break, as a message that can be sent to the server. */
function callLine({ name, arguments: values }: WitnessCall): string {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: values } }
  return styleText('dim', `call: ${escapeControlChars(JSON.stringify(message))}`)
}

/** The values, unless the message already quotes them. */
function valuesText({ before, after, message }: Finding): string {
  if (/ is now |^is now /.test(message) || (before === undefined && after === undefined)) return ''
  const [then, now] = [before, after].map((value) => (value === undefined ? '' : describeValue(value, 60)))
  if ([then, now].some((text) => text !== '' && message.includes(text ?? ''))) return ''
  return [then, now].filter((text) => text !== '').join(' → ')
}

/** The differences between two tapes for people: what breaks comes first, equal findings are listed once. */
export function diffAsText(diff: TapeDiff): string {
  const { before, after, isIdentical, surface, latency, notes } = diff
  if (isIdentical) return `${shownPath(before.path)} and ${shownPath(after.path)} are identical\n`
  const sections = [
    [
      ...alignRows([
        [
          { text: 'before' },
          { text: shownPath(before.path) },
          { text: countText(before.exchanges, 'exchange') },
        ],
        [
          { text: 'after' },
          { text: shownPath(after.path) },
          { text: countText(after.exchanges, 'exchange') },
        ],
      ]),
      ...notes.map((note) => `note: ${escapeControlChars(note)}`),
    ],
    ...bySubject(surface),
    ...exchangeSections(diff.exchanges),
    ...(diff.unlisted === 0
      ? []
      : [[`and ${diff.unlisted} more exchanges that differ, which are counted only`]]),
    ...(latency === undefined ? [] : [latencyLines(latency)]),
    [diffSummaryText(diff)],
  ]
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function shownPath(path: string): string {
  return escapeControlChars(path)
}

function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const LEVEL_ORDER: readonly FindingLevel[] = ['breaking', 'security', 'unknown', 'change', 'addition', 'info']

function rankOf(findings: readonly Finding[]): number {
  return Math.min(...findings.map(({ level }) => LEVEL_ORDER.indexOf(level)))
}

/**
 * Findings under a heading for each subject, the worst first. What is the same for several subjects, such as a hint that every tool gained,
 * is one line at the end of its level.
 */
function bySubject(findings: readonly Finding[]): readonly (readonly string[])[] {
  const shared = sharedFindings(findings)
  const groups = new Map<string, Finding[]>()
  for (const found of findings)
    if (!shared.has(sharedKey(found)))
      groups.set(found.subject, [...(groups.get(found.subject) ?? []), found])
  const own = [...groups].map(([subject, found]) => ({
    rank: rankOf(found),
    lines: [
      styleText('bold', escapeControlChars(subject)),
      ...found.toSorted((one, other) => rankOf([one]) - rankOf([other])).map((each) => findingText(each)),
    ],
  }))
  const common = Array.from(shared.values(), (group) => ({
    rank: rankOf(group) + 0.5,
    lines: sharedLines(group),
  }))
  return [...own, ...common].toSorted((one, other) => one.rank - other.rank).map(({ lines }) => lines)
}

/** So many subjects with the same finding are one line. */
const LEAST_SHARED = 3

function sharedFindings(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const groups = new Map<string, Finding[]>()
  for (const found of findings) {
    const key = sharedKey(found)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [found])
    else group.push(found)
  }
  return new Map([...groups].filter(([, group]) => group.length >= LEAST_SHARED))
}

function sharedKey({ rule, level, path, message, before, after, subject, witness }: Finding): string {
  if (witness !== undefined) return subject + rule + String(path) + message
  return describeValue([rule, level, path, message, before, after, kindOf(subject)], Infinity)
}

/** `tool search` is a tool. */
function kindOf(subject: string): string {
  return subject.replace(/ \S+$/, '')
}

function sharedLines(group: readonly Finding[]): readonly string[] {
  const [first] = group
  if (first === undefined) return []
  const kind = kindOf(first.subject)
  const names = group.map(({ subject }) => subject.slice(kind.length + 1))
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : ''
  const list = names.slice(0, MOST_NAMES).join(', ') + more
  return [
    styleText('bold', escapeControlChars(`${group.length} × ${kind}: `)) + escapeControlChars(list),
    findingText(first),
  ]
}

const MOST_NAMES = 20

/** Exchanges of the same call with the same findings are shown once, with their numbers. */
function exchangeSections(exchanges: readonly ExchangeChange[]): readonly (readonly string[])[] {
  const groups = new Map<string, ExchangeChange[]>()
  for (const change of exchanges) {
    const findings = change.findings.map(
      ({ rule, path = '', message }) => `${rule} ${pattern(path)} ${message}`,
    )
    const key = [change.kind, change.call, ...findings].join('\n')
    groups.set(key, [...(groups.get(key) ?? []), change])
  }
  const shared = sharedChanges([...groups.values()])
  const own = [...groups.values()].filter((group) => !shared.has(sharedKeyOf(group[0])))
  const sections = own
    .toSorted(([one], [other]) => rankOf(one?.findings ?? []) - rankOf(other?.findings ?? []))
    .map((group) => {
      const [first] = group
      if (first === undefined) return []
      const numbers = group.slice(0, MOST_NUMBERS).map(numbersText).join(', ')
      const more = group.length > MOST_NUMBERS ? ` and ${group.length - MOST_NUMBERS} more` : ''
      const title = `${styleText('bold', escapeControlChars(first.call))}  ${first.kind}  ${styleText('dim', numbers + more)}`
      return [title, ...shownFindings(first.findings)]
    })
  return [...sections, ...[...shared.values()].map(sharedChangeLines)]
}

/** The same harmless finding of many calls, such as a member that every result gained, is told once. */
function sharedChanges(
  groups: readonly (readonly ExchangeChange[])[],
): ReadonlyMap<string, readonly ExchangeChange[]> {
  const shared = new Map<string, ExchangeChange[]>()
  for (const [first] of groups) {
    const key = sharedKeyOf(first)
    if (first !== undefined && key !== '') shared.set(key, [...(shared.get(key) ?? []), first])
  }
  return new Map([...shared].filter(([, changes]) => changes.length >= FEWEST_SHARED))
}

const FEWEST_SHARED = 3

/** Empty if the change has more than one finding, or one that matters. */
function sharedKeyOf(change: ExchangeChange | undefined): string {
  const [found, ...others] = change?.findings ?? []
  if (change === undefined || found === undefined || others.length > 0) return ''
  const isHarmless = found.level === 'addition' || found.level === 'info'
  return isHarmless && found.path !== undefined
    ? [change.kind, found.rule, pattern(found.path), found.message].join('\n')
    : ''
}

function sharedChangeLines(changes: readonly ExchangeChange[]): readonly string[] {
  const names = [...new Set(changes.map(({ call }) => call))]
  const more = names.length > MOST_NAMES ? `, and ${names.length - MOST_NAMES} more` : ''
  const [first] = changes[0]?.findings ?? []
  const { before: _, after: _after, ...found } = first ?? finding('call-added', { subject: '' })
  return [
    styleText('bold', `${names.length} calls: `) +
      escapeControlChars(names.slice(0, MOST_NAMES).join(', ') + more),
    findingText(found),
  ]
}

const MOST_NUMBERS = 6
const MOST_LINES = 12

function shownFindings(findings: readonly Finding[]): readonly string[] {
  const sorted = findings.toSorted((one, other) => rankOf([one]) - rankOf([other]))
  const rest = sorted.length - MOST_LINES
  return [
    ...sorted.slice(0, MOST_LINES).map((found) => findingText(found)),
    ...(rest > 0 ? [`  and ${rest} more, see --json`] : []),
  ]
}

function pattern(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[*]')
}

function numbersText({ before, after }: ExchangeChange): string {
  if (before === undefined || after === undefined) return `#${before ?? after}`
  return before === after ? `#${before}` : `#${before} → #${after}`
}

function latencyLines(changes: readonly LatencyChange[]): readonly string[] {
  const rows = changes.map(({ call, calls, before, after, ratio, verdict }) => [
    { text: escapeControlChars(call) },
    { text: String(calls), align: 'right' as const },
    { text: formatDuration(before.p50), align: 'right' as const },
    { text: formatDuration(after.p50), align: 'right' as const },
    { text: formatDuration(before.p95), align: 'right' as const },
    { text: formatDuration(after.p95), align: 'right' as const },
    { text: `×${ratio.toFixed(2)}`, align: 'right' as const },
    {
      text: verdict === 'same' ? '' : verdict,
      style: (verdict === 'slower' ? 'yellow' : 'green') as TextStyle,
    },
  ])
  return alignRows([
    ['call', 'calls', 'p50', 'now', 'p95', 'now', 'ratio', ''].map((text) => columnTitle(text)),
    ...rows,
  ])
}

export function diffSummaryText({ summary, latency = [] }: TapeDiff): string {
  const { unchanged, modified, added, removed, breaking, security, folded } = summary
  const aboutSecurity = security > 0 ? `, ${security} about security` : ''
  const carried = [
    ...(folded.carried > 0 ? [`${folded.carried} carried values`] : []),
    ...(folded.clock > 0 ? [`${folded.clock} times`] : []),
    ...(folded.moved > 0 ? [`${countText(folded.moved, 'message')} of the server in another call`] : []),
    ...(folded.profile > 0 ? [`${folded.profile} places of the noise profile`] : []),
  ]
  const slower = latency.filter(({ verdict }) => verdict === 'slower').length
  return [
    `${breaking - security} breaking${aboutSecurity}; ${modified} modified, ${added} added, ${removed} removed, ${unchanged} unchanged`,
    ...(carried.length > 0 ? [`not counted: ${carried.join(', ')}`] : []),
    ...(slower > 0 ? [`${countText(slower, 'call')} slower`] : []),
  ].join('; ')
}

/** The differences between several pairs of tapes. */
export interface TapeDiffs {
  readonly diffs: readonly TapeDiff[]
  /** Tapes of the earlier folder that have no counterpart, and of the later one. */
  readonly missing: readonly string[]
  readonly added: readonly string[]
}

export function diffsAsText({ diffs, missing, added }: TapeDiffs): string {
  const changed = diffs.filter(({ isIdentical, summary, surface }) => {
    const { modified, added: isNew, removed } = summary
    return !isIdentical && modified + isNew + removed + surface.length > 0
  })
  const breaking = diffs.filter(({ summary }) => summary.breaking > 0).length
  return [
    ...changed.map((diff) => `${diffAsText(diff)}\n`),
    ...missing.map((name) => `only before: ${shownPath(name)}\n`),
    ...added.map((name) => `only after: ${shownPath(name)}\n`),
    `${countText(diffs.length, 'pair')}: ${breaking} with breaking changes, ${changed.length - breaking} with others, ${diffs.length - changed.length} unchanged; ${missing.length} missing, ${added.length} new\n`,
  ].join('')
}

export function diffsAsJson({ diffs, missing, added }: TapeDiffs): string {
  return jsonDocument({
    reelayDiffs: '1',
    diffs: diffs.map(diffObject),
    missing: missing.map(jsonValue),
    added: added.map(jsonValue),
  })
}

/** The differences as JSON, as defined by `schema/diff-report-1.json`. */
export function diffAsJson(diff: TapeDiff): string {
  return jsonDocument({ ...diffMembers(diff) })
}

function diffObject(diff: TapeDiff): string {
  const members = Object.entries(diffMembers(diff)).map(
    ([name, value]) =>
      `${JSON.stringify(name)}:${typeof value === 'string' ? value : `[${value.join(',')}]`}`,
  )
  return `{${members.join(',')}}`
}

function diffMembers(diff: TapeDiff): Readonly<Record<string, string | readonly string[]>> {
  const { before, after, isIdentical, summary, surface, exchanges, unlisted, latency, notes } = diff
  return {
    reelayDiff: '1',
    before: jsonValue(before),
    after: jsonValue(after),
    identical: jsonValue(isIdentical),
    summary: jsonValue(summary),
    surface: surface.map(jsonValue),
    exchanges: exchanges.map(jsonValue),
    unlisted: jsonValue(unlisted),
    ...(latency && { latency: latency.map(jsonValue) }),
    notes: notes.map(jsonValue),
  }
}

/** The findings of a check against a contract for people. What the contract accepts is listed last, with its reason. */
export function contractAsText({ contract, target, findings, summary }: ContractCheck): string {
  const open = findings.filter(({ accepted }) => accepted === undefined)
  const accepted = findings.filter((found) => found.accepted !== undefined)
  const sections = [
    [`contract  ${escapeControlChars(contract)}`, `target    ${escapeControlChars(target)}`],
    ...bySubject(open),
    ...(accepted.length === 0 ? [] : [['accepted:', ...accepted.map(acceptedText)]]),
    [contractSummary(summary)],
  ]
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function acceptedText({ rule, subject, accepted, fingerprint }: Finding): string {
  return `  ${escapeControlChars(`${rule}  ${subject}  ${accepted ?? ''}`)}  ${styleText('dim', fingerprint ?? '')}`
}

export function contractSummary({
  breaking,
  security,
  unknown,
  other,
  accepted,
}: ContractCheck['summary']): string {
  const verdict = breaking + security > 0 ? 'broken' : unknown > 0 ? 'kept as far as it is known' : 'kept'
  return `the contract is ${verdict}: ${breaking} breaking, ${security} security, ${unknown} unknown, ${other} other, ${accepted} accepted`
}

/** The findings as JSON, as defined by `schema/contract-report-1.json`. */
export function contractAsJson({ contract, target, findings, summary }: ContractCheck): string {
  return jsonDocument({
    reelayContractCheck: '1',
    contract: jsonValue(contract),
    target: jsonValue(target),
    summary: jsonValue(summary),
    findings: findings.map(jsonValue),
  })
}
