import { styleText } from 'node:util'
import { canonicalJson } from '../../json/canonical.ts'
import { parseJson, type JsonObject } from '../../json/parse.ts'
import type { ConnectionFacts } from '../connections.ts'
import { exchangeTable, messagesOfStep, type ExchangeFacts } from '../exchanges.ts'
import { type Inspection, type MissedRequest, missedRequests } from './inspect.ts'
import { indentJson } from '../json-text.ts'
import { formatDuration } from '../table.ts'
import type { EventFrame, RawFrame, StderrFrame } from '../../tape/frame.ts'
import { TEXT_LABELS } from '../../tape/header.ts'
import type { RecordedMessage } from '../../tape/turns.ts'
import { escapeControlChars, truncateText, escapeControlCharsInJson } from '../../text.ts'

/** Formats a tape for people: its connections, its exchanges and notes. */
export function inspectAsText(
  inspection: Inspection,
  { verbose }: { readonly verbose: boolean } = { verbose: true },
): string {
  const lines = verbose
    ? verboseExchangeLines(inspection)
    : exchangeTable(inspection.exchanges, inspection.connections.length > 1)
  return [...sectionLines(inspection, lines, collectNotes(inspection, verbose))]
    .map((line) => `${line}\n`)
    .join('')
}

/** The part above the exchanges. */
export type InspectionHeading = Pick<Inspection, 'path' | 'header' | 'frames' | 'durationMs' | 'connections'>

/** The lines of all sections, separated by empty lines. */
export function* sectionLines(
  heading: InspectionHeading,
  exchanges: Iterable<string>,
  notes: InspectionNotes,
): Generator<string> {
  let before: readonly string[] = []
  for (const section of [titleLines(heading), serverLines(heading), exchanges, noteLines(notes)]) {
    for (const line of section) {
      yield* before
      yield line
      before = []
    }
    before = ['']
  }
}

function titleLines({ path, header, frames, durationMs }: InspectionHeading): readonly string[] {
  const ids = TEXT_LABELS.flatMap((id) => (header[id] === undefined ? [] : [[id, header[id]]]))
  const labels = [...ids, ...Object.entries(header.tags)].map(([name, value]) => `, ${name}=${value}`)
  const facts = `${frames} ${frames === 1 ? 'frame' : 'frames'} in ${formatDuration(durationMs)}, recorded ${header.started} by ${header.by}`
  return [styleText('bold', escapeControlChars(path)), escapeControlChars(facts + labels.join(''))]
}

function serverLines({ header, connections }: InspectionHeading): readonly string[] {
  const names = new Set([...Object.keys(header.servers), ...connections.map(({ server }) => server)])
  return [...names].flatMap((name) => [
    serverLine(name, header.servers[name]),
    ...connectionGroups(connections.filter(({ server }) => server === name)).flatMap(connectionLines),
  ])
}

/** Connections that look the same. A stateless HTTP server has one for each request. */
function connectionGroups(
  connections: readonly ConnectionFacts[],
): readonly (readonly [ConnectionFacts, ...ConnectionFacts[]])[] {
  const groups = new Map<string, [ConnectionFacts, ...ConnectionFacts[]]>()
  for (const facts of connections) {
    const text = connectionDetails(facts).join('\n')
    const group = groups.get(text)
    if (group === undefined) groups.set(text, [facts])
    else group.push(facts)
  }
  return [...groups.values()]
}

function serverLine(name: string, info: Inspection['header']['servers'][string] | undefined): string {
  const command = info?.command?.join(' ') ?? info?.url ?? ''
  return `${styleText('bold', escapeControlChars(name))} ${escapeControlChars(`(${info?.transport ?? 'not in the header'}) ${command}`)}`
}

function connectionLines(group: readonly [ConnectionFacts, ...ConnectionFacts[]]): readonly string[] {
  const [{ conn }, ...others] = group
  const [first = '', ...rest] = connectionDetails(group[0])
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return [`  connection ${conn}${more}: ${first}`, ...rest].map(escapeControlChars)
}

/** Who was connected, and what they can do. */
function connectionDetails(facts: ConnectionFacts): readonly string[] {
  const who =
    facts.clientInfo === undefined && facts.serverInfo === undefined
      ? 'no handshake'
      : `${peerName(facts.clientInfo, 'a client')} → ${peerName(facts.serverInfo, 'a server')}`
  const details = [versionText(facts), exitText(facts.exit)].filter((text) => text !== '')
  const capabilities = [
    ...capabilityText('client', facts.clientCapabilities),
    ...capabilityText('server', facts.serverCapabilities),
  ]
  const lines = [[who, ...details].join(', '), `    ${capabilities.join('; ')}`]
  return lines.filter((line) => line.trim() !== '')
}

function versionText({ protocolVersion, era }: ConnectionFacts): string {
  return [protocolVersion ?? '', era === undefined ? '' : `(${era})`].join(' ').trim()
}

function exitText(exit: JsonObject | undefined): string {
  if (typeof exit?.['signal'] === 'string') return `ended by ${exit['signal']}`
  return typeof exit?.['code'] === 'number' ? `exit code ${exit['code']}` : ''
}

function peerName(info: JsonObject | undefined, unnamed: string): string {
  const words = [info?.['name'], info?.['version']].filter((value) => typeof value === 'string')
  return words.length === 0 ? unnamed : words.join(' ')
}

function capabilityText(side: string, capabilities: JsonObject | undefined): readonly string[] {
  if (capabilities === undefined) return []
  return [`${side} capabilities: ${Object.keys(capabilities).join(', ') || 'none'}`]
}

function verboseExchangeLines(inspection: Inspection): readonly string[] {
  const [headings = '', ...rows] = exchangeTable(inspection.exchanges, inspection.connections.length > 1)
  const inFull = inspection.exchanges.flatMap((exchange, index) => [
    rows[index] ?? '',
    ...exchangeMessages(exchange).map((line) => `   ${line}`),
  ])
  return [headings, ...inFull]
}

/** Maximum lines of each kind without `--verbose`. */
export const MAX_NOTE_LINES = 5

/** Facts about a tape that are shown below its exchanges. */
export interface InspectionNotes extends Pick<
  Inspection,
  'latency' | 'problems' | 'ended' | 'unknownFrames'
> {
  readonly misses: readonly MissedRequest[]
  /** What was decided about messages that were held. */
  readonly held: TruncatedLines
  readonly outside: readonly string[]
  readonly stderr: TruncatedLines
  readonly raw: TruncatedLines
  readonly events: readonly string[]
}

/** The first of some lines, and how many there are. */
export interface TruncatedLines {
  readonly lines: readonly string[]
  readonly count: number
}

/** Formats the notes, each under its label. Empty notes are skipped. */
function noteLines(notes: InspectionNotes): readonly string[] {
  return [
    ...labelledLines('latency', latencyLines(notes)),
    ...labelledLines('misses', notes.misses.map(missLine)),
    ...labelledLines('held', truncatedNote(notes.held)),
    ...labelledLines('outside', notes.outside),
    ...labelledLines('stderr', truncatedNote(notes.stderr)),
    ...labelledLines('raw', truncatedNote(notes.raw)),
    ...labelledLines('events', notes.events),
    ...labelledLines('problems', problemLines(notes)),
  ]
}

/** The notes of a tape in memory. */
function collectNotes(inspection: Inspection, verbose: boolean): InspectionNotes {
  const { outside, stderr, raw, events } = inspection
  const most = verbose ? Infinity : MAX_NOTE_LINES
  return {
    ...inspection,
    misses: missedRequests(inspection),
    held: truncateLines(events.filter(isDecision).map(decisionLine), most),
    outside: verbose ? outside.flatMap(messageLines) : countTitles(outside.map(outsideMessageTitle)),
    stderr: truncateLines(stderrLines(stderr), most),
    raw: truncateLines(raw.map(rawLine), most),
    events: verbose ? events.map(eventLine) : [],
  }
}

function labelledLines(label: string, lines: readonly string[]): readonly string[] {
  return lines.map((line, index) => `${styleText('dim', (index === 0 ? label : '').padEnd(9))} ${line}`)
}

function latencyLines({ latency }: InspectionNotes): readonly string[] {
  if (latency === undefined) return []
  const { answered, medianMs, p95Ms, maxMs } = latency
  const [median, p95, longest] = [medianMs, p95Ms, maxMs].map(formatDuration)
  return [`${answered} answered: median ${median}, p95 ${p95}, longest ${longest}`]
}

function missLine({ sequence, message }: MissedRequest): string {
  return escapeControlChars(`exchange ${sequence}: ${message}`)
}

/** Describes a message that belongs to no exchange. */
export function outsideMessageTitle(recorded: RecordedMessage): string {
  return `${recorded.dir === 'c2s' ? '→' : '←'} ${messageTitle(recorded)}`
}

function countTitles(titles: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1)
  return formatTitleCounts(counts)
}

export function formatTitleCounts(counts: ReadonlyMap<string, number>): readonly string[] {
  return [...counts].map(([title, count]) => (count === 1 ? title : `${title}, ${count} times`))
}

/** Chunks of stderr do not end at line breaks, so those of one connection are joined before they are split into lines. */
function stderrLines(frames: readonly StderrFrame[]): readonly string[] {
  const texts = new Map<string, string>()
  for (const { server, conn, stderr } of frames) {
    const key = JSON.stringify([server, conn])
    texts.set(key, (texts.get(key) ?? '') + stderr)
  }
  return [...texts.values()]
    .flatMap((text) => text.replace(/\r?\n$/, '').split(/\r?\n/))
    .map(escapeControlChars)
}

export function rawLine({ dir, raw, why }: RawFrame): string {
  return escapeControlChars(`${dir === 'c2s' ? '→' : '←'} ${raw} (${why})`)
}

/** Returns true for the event that says what was decided about a held message. */
export function isDecision({ event, details }: EventFrame): boolean {
  return event === 'intercept' && details['action'] !== 'progress'
}

export function decisionLine({ t, details }: EventFrame): string {
  const { action, of, dir, ms, by, why } = details
  const arrow = dir === 'c2s' ? '→' : '←'
  const seconds = typeof ms === 'number' ? ` after ${formatDuration(ms)}` : ''
  const reason = typeof why === 'string' ? `, ${why}` : ''
  return escapeControlChars(
    `+${formatDuration(t)} ${arrow} frame ${String(of)}: ${String(action)} by ${String(by)}${seconds}${reason}`,
  )
}

function eventLine({ t, event, details }: EventFrame): string {
  return escapeControlChars(`+${formatDuration(t)} ${event} ${canonicalJson(details)}`)
}

function problemLines({ problems, ended, unknownFrames }: InspectionNotes): readonly string[] {
  const lines = problems.map(({ line, why }) => escapeControlChars(`line ${line}: ${why}`))
  if (!ended) lines.push('the tape has no end: it was cut off, or is still being recorded')
  if (unknownFrames > 0) lines.push(`${unknownFrames} frames are of a kind that this version does not know`)
  return lines.map((line) => styleText('yellow', line))
}

/** The first `most` lines and the number of all lines. */
function truncateLines(lines: readonly string[], most: number = MAX_NOTE_LINES): TruncatedLines {
  return { lines: lines.slice(0, most), count: lines.length }
}

function truncatedNote({ lines, count }: TruncatedLines): readonly string[] {
  if (count <= lines.length) return lines
  return [...lines, styleText('dim', `and ${count - lines.length} more (use -v to show all)`)]
}

/** Formats every message of an exchange, in recorded order. */
function exchangeMessages({ request, steps, outcome }: ExchangeFacts): readonly string[] {
  const messages = [request, ...steps.flatMap(messagesOfStep)].flatMap(messageLines)
  return [...messages, ...missingResponseLines(outcome)]
}

/** What came in place of a response. */
function missingResponseLines(outcome: ExchangeFacts['outcome']): readonly string[] {
  if (outcome.kind === 'lost') return [styleText('cyan', `← no response: ${escapeControlChars(outcome.why)}`)]
  if (outcome.kind !== 'http-error') return []
  const { status, body } = outcome
  const title = styleText('cyan', `← HTTP ${status}, without a JSON-RPC response`)
  if (body === undefined) return [title]
  const isJson = parseJson(body) !== undefined
  const text = isJson ? indentJson(escapeControlCharsInJson(body)) : body.trimEnd()
  return [title, ...text.split(/\r?\n/).map((line) => `  ${isJson ? line : escapeControlChars(line)}`)]
}

/** Formats a message: its direction, title, time and JSON. */
function messageLines(recorded: RecordedMessage): readonly string[] {
  const arrow = recorded.dir === 'c2s' ? '→' : '←'
  const title = `${arrow} ${messageTitle(recorded)} at +${formatDuration(recorded.t)}`
  const json = indentJson(escapeControlCharsInJson(recorded.text)).split('\n')
  return [styleText('cyan', title), ...json.map((line) => `  ${line}`)]
}

function messageTitle({ message }: RecordedMessage): string {
  switch (message.kind) {
    case 'request':
    case 'notification':
      return truncateText(message.method, 48)
    case 'response':
      return `answer to ${truncateText(JSON.stringify(message.id), 48)}`
    case 'invalid':
      return `invalid: ${message.why}`
  }
}
