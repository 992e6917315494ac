import { styleText } from 'node:util'
import { TEXT_LABELS } from '../../tape/labels.ts'
import type { JsonObject } from '../../protocol/message.ts'
import type { ConnectionFacts } from '../exchanges/connections.ts'
import { formatDuration } from '../duration.ts'
import { exchangeTableLines, exchangeTable } from '../exchanges/exchange-table.ts'
import { exchangeMessages } from '../inspect-messages.ts'
import { noteLines, collectNotes, type InspectionNotes } from './notes.ts'
import type { Inspection } from './inspect.ts'
import type { Overview } from '../overview.ts'
import { escapeControlChars } from '../../text.ts'

/** A tape for people: who talked to whom, one line for each exchange, and what else is worth knowing. */
export function inspectAsText(inspection: Inspection, { verbose }: { readonly verbose: boolean }): string {
  const lines = verbose ? verboseExchangeLines(inspection) : exchangeTable(inspection)
  return [...sectionLines(inspection, lines, collectNotes(inspection, verbose))]
    .map((line) => `${line}\n`)
    .join('')
}

/** The same of a tape of any size, line by line. */
export function overviewLines({ exchanges, notes, ...heading }: Overview): Iterable<string> {
  const manyLinks = heading.connections.length > 1
  return sectionLines(heading, exchanges.size === 0 ? [] : exchangeTableLines(exchanges, manyLinks), notes)
}

/** What stands above the exchanges. */
export type InspectionHeading = Pick<Inspection, 'path' | 'header' | 'frames' | 'durationMs' | 'connections'>

/** Its lines, with empty ones between the sections. */
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
