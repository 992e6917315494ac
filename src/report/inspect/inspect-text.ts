import { styleText } from 'node:util'
import type { JsonObject } from '../../protocol/message.ts'
import type { ConnectionFacts } from '../exchanges/connections.ts'
import { ExchangeLog, type ExchangeRows } from '../exchanges/exchange-log.ts'
import { exchangeTableLines, exchangeTable } from '../exchanges/exchange-table.ts'
import { summarizeLatency } from '../exchanges/exchange.ts'
import type { Inspection } from './inspect.ts'
import {
  exchangeMessages,
  noteLines,
  collectNotes,
  type InspectionNotes,
  formatTitleCounts,
  MAX_NOTE_LINES,
  outsideMessageTitle,
  rawLine,
  type TruncatedLines,
} from './notes.ts'
import { formatDuration } from '../table.ts'
import type { TapeReader } from '../../store/file/read.ts'
import type { EventFrame, Frame, RawFrame, StderrFrame } from '../../tape/frame.ts'
import { TEXT_LABELS, withLateServers } from '../../tape/header.ts'
import { TapeConversations, messagesInFrame } from '../../tape/turn-builder.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import { escapeControlChars } from '../../text.ts'

/** Formats a tape for people: its connections, its exchanges and notes. */
export function inspectAsText(
  inspection: Inspection,
  { verbose }: { readonly verbose: boolean } = { verbose: true },
): string {
  const lines = verbose ? verboseExchangeLines(inspection) : exchangeTable(inspection)
  return [...sectionLines(inspection, lines, collectNotes(inspection, verbose))]
    .map((line) => `${line}\n`)
    .join('')
}

/** Like `inspectAsText`, for a tape of any size, line by line. */
export function overviewLines({ exchanges, notes, ...heading }: Overview): Iterable<string> {
  const manyLinks = heading.connections.length > 1
  return sectionLines(heading, exchanges.size === 0 ? [] : exchangeTableLines(exchanges, manyLinks), notes)
}

export function* overviewAsText(overview: Overview): Generator<string> {
  for (const line of overviewLines(overview)) yield `${line}\n`
}

/** The part above the exchanges. */
type InspectionHeading = Pick<Inspection, 'path' | 'header' | 'frames' | 'durationMs' | 'connections'>

/** The lines of all sections, separated by empty lines. */
function* sectionLines(
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
    ...connections.filter(({ server }) => server === name).flatMap(connectionLines),
  ])
}

function serverLine(name: string, info: Inspection['header']['servers'][string] | undefined): string {
  const command = info?.command?.join(' ') ?? info?.url ?? ''
  return `${styleText('bold', escapeControlChars(name))} ${escapeControlChars(`(${info?.transport ?? 'not in the header'}) ${command}`)}`
}

function connectionLines(facts: ConnectionFacts): readonly string[] {
  const who = `${peerName(facts.clientInfo, 'a client')} → ${peerName(facts.serverInfo, 'a server')}`
  const said = [versionText(facts), exitText(facts.exit)].filter((text) => text !== '')
  const can = [
    ...capabilityText('client', facts.clientCapabilities),
    ...capabilityText('server', facts.serverCapabilities),
  ]
  const lines = [[`  connection ${facts.conn}: ${who}`, ...said].join(', '), `    ${can.join('; ')}`]
  return lines.filter((line) => line.trim() !== '').map(escapeControlChars)
}

function versionText({ protocolVersion, era }: ConnectionFacts): string {
  return [protocolVersion ?? '', era === undefined ? '' : `(${era})`].join(' ').trim()
}

function exitText(exit: JsonObject | undefined): string {
  if (typeof exit?.['signal'] === 'string') return `ended by ${exit['signal']}`
  return typeof exit?.['code'] === 'number' ? `exit code ${exit['code']}` : ''
}

function peerName(info: JsonObject | undefined, unnamed: string): string {
  const said = [info?.['name'], info?.['version']].filter((value) => typeof value === 'string')
  return said.length === 0 ? unnamed : said.join(' ')
}

function capabilityText(side: string, capabilities: JsonObject | undefined): readonly string[] {
  if (capabilities === undefined) return []
  return [`${side} capabilities: ${Object.keys(capabilities).join(', ') || 'none'}`]
}

function verboseExchangeLines(inspection: Inspection): readonly string[] {
  const [headings = '', ...rows] = exchangeTable(inspection)
  const inFull = inspection.exchanges.flatMap((exchange, index) => [
    rows[index] ?? '',
    ...exchangeMessages(exchange).map((line) => `   ${line}`),
  ])
  return [headings, ...inFull]
}

/** A summary of a tape: a compact row for each exchange, and counts of the rest. */
export interface Overview extends InspectionHeading {
  readonly exchanges: ExchangeRows
  readonly notes: InspectionNotes
}

/** Reads a tape once. The memory that it needs does not depend on the length of the messages. */
export async function readOverview(reader: TapeReader): Promise<Overview> {
  const builder = new OverviewBuilder()
  for await (const batch of reader.batches()) for (const frame of batch) builder.add(frame)
  return builder.finish(reader)
}

class OverviewBuilder {
  readonly #log = new ExchangeLog((spoken) => this.#addOutside(spoken))
  readonly #conversations = new TapeConversations(this.#log)
  readonly #joined: EventFrame[] = []
  readonly #outsideCounts = new Map<string, number>()
  readonly #stderr = new Map<string, StderrPreview>()
  readonly #raw: string[] = []
  #rawCount = 0
  #unknownFrames = 0
  #frames = 0
  #durationMs = 0

  add(frame: Frame): void {
    this.#frames++
    if (frame.kind === 'message') for (const spoken of messagesInFrame(frame)) this.#conversations.add(spoken)
    else this.#addOther(frame)
    this.#durationMs = Math.max(this.#durationMs, frame.t)
  }

  finish({ path, header, state: { ended, problems } }: TapeReader): Overview {
    const { rows, connections, misses } = this.#log
    const notes = {
      latency: summarizeLatency(rows.latencies()),
      misses: misses.toSorted((a, b) => a.sequence - b.sequence),
      outside: formatTitleCounts(this.#outsideCounts),
      stderr: joinTruncated([...this.#stderr.values()].map((head) => head.lines())),
      raw: { lines: this.#raw, count: this.#rawCount },
      events: [],
      problems,
      ended,
      unknownFrames: this.#unknownFrames,
    }
    return {
      path,
      header: withLateServers(header, this.#joined),
      frames: this.#frames,
      durationMs: this.#durationMs,
      connections: connections.facts(),
      exchanges: rows,
      notes,
    }
  }

  #addOther(frame: Exclude<Frame, { kind: 'message' }>): void {
    switch (frame.kind) {
      case 'http':
        return this.#log.addHttpStatus(frame)
      case 'event':
        return this.#addEvent(frame)
      case 'stderr':
        return this.#addStderr(frame)
      case 'raw':
        return this.#addRaw(frame)
      case 'other':
        this.#unknownFrames++
    }
  }

  #addEvent(frame: EventFrame): void {
    this.#log.connections.addEvent(frame)
    if (frame.event === 'server') this.#joined.push(frame)
  }

  #addStderr(frame: StderrFrame): void {
    this.#log.connections.track(frame, 'stderr', frame.n)
    const key = JSON.stringify([frame.server, frame.conn])
    const head = this.#stderr.get(key) ?? new StderrPreview(MAX_NOTE_LINES)
    this.#stderr.set(key, head)
    head.add(frame.stderr)
  }

  #addRaw(frame: RawFrame): void {
    this.#log.connections.track(frame, 'raw', frame.n)
    if (frame.cut !== undefined) this.#conversations.addCut(frame)
    if (++this.#rawCount <= MAX_NOTE_LINES) this.#raw.push(rawLine(frame))
  }

  #addOutside(spoken: RecordedMessage): void {
    this.#log.connections.track(spoken, 'outside', spoken.n)
    const title = outsideMessageTitle(spoken)
    this.#outsideCounts.set(title, (this.#outsideCounts.get(title) ?? 0) + 1)
  }
}

function joinTruncated(parts: readonly TruncatedLines[]): TruncatedLines {
  const count = parts.reduce((sum, part) => sum + part.count, 0)
  return { lines: parts.flatMap(({ lines }) => lines).slice(0, MAX_NOTE_LINES), count }
}

/** The first lines of stderr and the number of all lines. Chunks do not end at line breaks. */
class StderrPreview {
  readonly #most: number
  #head = ''
  #breaks = 0
  #isAtBreak = false

  constructor(most: number) {
    this.#most = most
  }

  add(text: string): void {
    if (text === '') return
    if (this.#breaks < this.#most) this.#head += text
    this.#breaks += text.split('\n').length - 1
    this.#isAtBreak = text.endsWith('\n')
  }

  lines(): TruncatedLines {
    const lines = this.#head
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .slice(0, this.#most)
    return { lines: lines.map(escapeControlChars), count: this.#breaks + (this.#isAtBreak ? 0 : 1) }
  }
}
