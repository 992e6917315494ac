import type { HeldFacts } from '../../record/intercept/interceptor.ts'
import { summarizeExchange, type ExchangeFacts } from '../../report/exchanges.ts'
import { indentJson } from '../../report/json-text.ts'
import { formatDuration } from '../../report/table.ts'
import { escapeControlCharsInJson } from '../../text.ts'
import { encodeLine, fitText, type ScreenLine, type ScreenStyle } from './screen.ts'

/** Everything that the monitor shows. */
export interface MonitorState {
  readonly tape: string
  /** Whether the recording still runs. */
  readonly isLive: boolean
  /** Whether messages can be held: the recorder has a control socket. */
  readonly isAttached: boolean
  readonly interceptFilter: string
  readonly viewFilter: string
  readonly held: readonly HeldRow[]
  readonly exchanges: readonly ExchangeFacts[]
  /** The number of all exchanges, with those that the filter hides. */
  readonly exchangeCount: number
  /** The index of the selected row: first the held messages, then the exchanges. */
  readonly selected: number
  /** The first line of the detail that is shown. */
  readonly detailTop: number
  readonly prompt: { readonly label: string; readonly text: string } | undefined
  readonly status: { readonly text: string; readonly style: ScreenStyle }
  readonly isHelpShown: boolean
  /** The last response to each request that the user repeated, by the number of the exchange. */
  readonly repeated: ReadonlyMap<number, string>
  /** Replaces secrets, because others may see the screen. */
  readonly redact: (text: string) => string
}

/** A held message, and when it was reported. */
export interface HeldRow {
  readonly facts: HeldFacts
  /** The time at which it is released, by the clock of this process. */
  readonly deadline: number
}

interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** Draws the monitor: a title, the list, the selected message and the keys. */
export function drawMonitor(
  state: MonitorState,
  { columns, rows }: ScreenSize,
  now: number,
): readonly string[] {
  const body = Math.max(2, rows - 3)
  const listRows = Math.max(1, Math.min(Math.ceil(body / 2), listLength(state) + 1))
  const detailRows = body - listRows
  return [
    encodeLine(titleLine(state), columns, true),
    ...listLines(state, { columns, rows: listRows }, now),
    encodeLine([{ text: `── ${detailTitle(state)} ${'─'.repeat(columns)}`, style: 'dim' }], columns),
    ...detailLines(state, { columns, rows: detailRows }),
    encodeLine(bottomLine(state), columns),
  ]
}

export function listLength({ held, exchanges }: Pick<MonitorState, 'held' | 'exchanges'>): number {
  return held.length + exchanges.length
}

function titleLine(state: MonitorState): ScreenLine {
  const { tape, held, exchanges, exchangeCount, viewFilter } = state
  const shown =
    viewFilter === '' ? `${exchangeCount}` : `${exchanges.length} of ${exchangeCount} (${viewFilter})`
  const holding = state.isAttached ? `held: ${held.length}  ` : ''
  const intercept = state.isAttached ? `  intercept: ${state.interceptFilter || 'off'}` : ''
  const name = tape.slice(Math.max(tape.lastIndexOf('/'), tape.lastIndexOf('\\')) + 1)
  const recording = state.isLive ? 'recording' : 'ended'
  return [{ text: ` ${name}  ${recording}  ${holding}exchanges: ${shown}${intercept}` }]
}

function listLines(state: MonitorState, { columns, rows }: ScreenSize, now: number): readonly string[] {
  const { held, exchanges, selected } = state
  const length = listLength(state)
  if (length === 0)
    return blankLines([encodeLine([{ text: ' nothing yet', style: 'dim' }], columns)], rows, columns)
  const top = Math.max(0, Math.min(selected - Math.floor(rows / 2), length - rows))
  const lines: string[] = []
  for (let row = top; row < Math.min(length, top + rows); row++) {
    const exchange = exchanges[row - held.length]
    const heldRow = held[row]
    const line = heldRow === undefined ? exchange && exchangeLine(exchange) : heldLine(heldRow, columns, now)
    if (line !== undefined) lines.push(encodeLine(line, columns, row === selected))
  }
  return blankLines(lines, rows, columns)
}

function heldLine({ facts, deadline }: HeldRow, columns: number, now: number): ScreenLine {
  const { key, dir, kind, method, target, exchange, hasProgress } = facts
  const left = Math.max(0, Math.ceil((deadline - now) / 1000))
  const number = exchange === undefined ? '' : `#${exchange} `
  const name = [method, target].filter((word) => word !== undefined).join(' ')
  const style = left <= 10 ? 'red' : 'yellow'
  const mark = { text: ` HELD ${key.padEnd(4)}`, style: 'yellow' } as const
  const title = { text: ` ${dir === 'c2s' ? '→' : '←'} ${number}${kind} ${name} ` }
  // A narrow terminal cuts off the end of the line.
  if (columns < NARROW_COLUMNS) return [mark, { text: `${left} s`.padStart(6), style }, title]
  return [mark, title, { text: ` ${left} s left${hasProgress ? ', progress is sent' : ''}`, style }]
}

const NARROW_COLUMNS = 70

const OUTCOME_STYLES: Readonly<Record<string, ScreenStyle>> = {
  ok: 'green',
  error: 'red',
  miss: 'red',
  'tool-error': 'red',
}

function exchangeLine(exchange: ExchangeFacts): ScreenLine {
  const { sequence, at, title, latencyMs, outcome } = summarizeExchange(exchange)
  const latency = latencyMs === undefined ? '' : formatDuration(latencyMs)
  return [
    { text: `${String(sequence).padStart(5)}  ` },
    { text: `+${formatDuration(at)}`.padStart(10), style: 'dim' },
    { text: `  ${fitText(title, 34).padEnd(34)} ${latency.padStart(9)}  ` },
    { text: outcome.text, style: OUTCOME_STYLES[outcome.kind] ?? 'yellow' },
  ]
}

function detailTitle({ held, exchanges, selected }: MonitorState): string {
  const row = held[selected]
  if (row !== undefined)
    return `${row.facts.key}, ${row.facts.dir === 'c2s' ? 'from the client' : 'from the server'}`
  const exchange = exchanges[selected - held.length]
  return exchange === undefined ? '' : `#${exchange.sequence}`
}

function detailLines(state: MonitorState, { columns, rows }: ScreenSize): readonly string[] {
  const lines = state.isHelpShown ? HELP : selectedText(state).split('\n')
  const top = Math.max(0, Math.min(state.detailTop, lines.length - rows))
  const shown = lines.slice(top, top + rows).map((text) => encodeLine([{ text }], columns))
  return blankLines(shown, rows, columns)
}

/** The selected messages, indented. Long ones are cut, because only a few lines are shown. */
function selectedText({ held, exchanges, selected, repeated, redact }: MonitorState): string {
  const row = held[selected]
  if (row !== undefined) return shownJson(redact(row.facts.text))
  const exchange = exchanges[selected - held.length]
  if (exchange === undefined) return ''
  const { sequence, request, response } = exchange
  const again = repeated.get(sequence)
  return [
    ...(again === undefined ? [] : ['response to the repeated request:', shownJson(redact(again))]),
    shownJson(request.text),
    response === undefined ? 'no response yet' : shownJson(response.text),
  ].join('\n')
}

function shownJson(text: string): string {
  const safe = escapeControlCharsInJson(text.slice(0, MAX_SHOWN))
  return text.length > MAX_SHOWN ? `${safe}…` : indentJson(safe)
}

const MAX_SHOWN = 256 * 1024

function bottomLine({ prompt, status, held, selected, isAttached }: MonitorState): ScreenLine {
  if (prompt !== undefined) return [{ text: prompt.label, style: 'bold' }, { text: `${prompt.text}█` }]
  if (status.text !== '') return [{ text: status.text, style: status.style }]
  const decide = held[selected] === undefined ? '' : 'f forward  e edit  d drop  a answer  + more time  '
  const intercept = isAttached ? 'r repeat  i intercept  ' : ''
  return [{ text: `${decide}${intercept}/ filter  ? help  q quit`, style: 'dim' }]
}

function blankLines(lines: readonly string[], rows: number, columns: number): readonly string[] {
  return [...lines, ...Array.from({ length: Math.max(0, rows - lines.length) }, () => ' '.repeat(columns))]
}

const HELP: readonly string[] = [
  'up, down, j, k         select a message; home and end for the first and last',
  'page up, page down     scroll the message',
  '/                      show only exchanges that match a filter',
  'f                      forward the held message; F forwards all',
  'e                      edit it in $VISUAL or $EDITOR, then forward it',
  'd                      drop it: its receiver never gets it',
  'a                      answer the held request in place of the server',
  '+                      hold it for 60 s longer',
  'i                      change which messages are held; an empty filter holds nothing',
  'r                      send the request of the selected exchange again',
  'q, Ctrl+C              leave; what is held is forwarded',
]
