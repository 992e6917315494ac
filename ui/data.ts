import { batch, computed, signal } from '@preact/signals'
import { parseFilter, type FilterExpression, type FilterSubject } from '../src/filter/filter.ts'
import { parseJson, member } from '../src/json/parse.ts'
import type { Direction } from '../src/protocol/message.ts'
import type { OutcomeKind } from '../src/protocol/outcome.ts'
import type { PageData, PageFinding, RowMessages } from '../src/report/page/page-data.ts'

export type { PageFinding, PageMessage, RowMessages } from '../src/report/page/page-data.ts'

/** A report that was read from the templates of this page. */
export class Report {
  readonly data: PageData
  readonly size: number
  /** The time of the last message, in milliseconds. */
  readonly end: number
  /** The time of the first row. */
  readonly begin: number
  readonly hasTimes: boolean
  /** The columns that are read for every frame of the timeline. */
  readonly at: Float64Array
  readonly ends: Float64Array
  readonly tones: Uint8Array
  readonly #chunks = new Map<number, Promise<readonly RowMessages[]>>()
  readonly #loaded = new Map<number, readonly RowMessages[]>()

  constructor(data: PageData) {
    this.data = data
    this.size = data.rows.number.length
    let end = 1
    let begin = Infinity
    let hasTimes = false
    const toneOfText = data.texts.map((text) => TONE_LIST.indexOf(TONES[text] ?? 'plain'))
    this.at = Float64Array.from(data.rows.at)
    this.ends = new Float64Array(this.size)
    this.tones = Uint8Array.from(data.rows.status, (text) => toneOfText[text] ?? 0)
    for (let row = 0; row < this.size; row++) {
      const at = this.at[row] ?? -1
      const rowEnd = at + Math.max(0, data.rows.duration[row] ?? 0)
      this.ends[row] = rowEnd
      if (at < 0) continue
      hasTimes = true
      if (rowEnd > end) end = rowEnd
      if (at < begin) begin = at
    }
    this.end = end
    this.begin = Math.min(begin, end - 1)
    this.hasTimes = hasTimes
  }

  text(column: 'method' | 'target' | 'link' | 'status' | 'outcome' | 'reproduce', row: number): string {
    return this.data.texts[this.data.rows[column][row] ?? -1] ?? ''
  }

  findings(row: number): readonly PageFinding[] {
    return this.data.findings[row] ?? []
  }

  tone(row: number): Tone {
    return TONE_LIST[this.tones[row] ?? 0] ?? 'plain'
  }

  /** Unpacks the messages of a row when somebody looks at it. */
  async messages(row: number): Promise<RowMessages> {
    const number = Math.floor(row / this.data.chunkRows)
    const chunk = await this.#chunk(number)
    return chunk[row % this.data.chunkRows] ?? []
  }

  /** The messages of a row if they are unpacked already. */
  loadedMessages(row: number): RowMessages | undefined {
    return this.#loaded.get(Math.floor(row / this.data.chunkRows))?.[row % this.data.chunkRows]
  }

  async loadAll(): Promise<void> {
    const count = Math.ceil(this.size / this.data.chunkRows)
    for (let number = 0; number < count; number++) await this.#chunk(number)
  }

  #chunk(number: number): Promise<readonly RowMessages[]> {
    const known = this.#chunks.get(number)
    if (known !== undefined) return known
    const chunk = readTemplate<readonly RowMessages[]>(`reelay-messages-${number}`).then((rows) => {
      this.#loaded.set(number, rows ?? [])
      return rows ?? []
    })
    this.#chunks.set(number, chunk)
    return chunk
  }
}

/** In the order in which they are drawn: what is bad must be on top. */
export const TONE_LIST = ['plain', 'good', 'warn', 'bad'] as const
export type Tone = (typeof TONE_LIST)[number]

const TONES: Readonly<Record<string, Tone>> = {
  ok: 'good',
  passed: 'good',
  failed: 'bad',
  error: 'bad',
  'tool-error': 'bad',
  miss: 'bad',
  warned: 'warn',
  cancelled: 'warn',
  unanswered: 'warn',
  'http-error': 'bad',
  lost: 'bad',
  cut: 'warn',
  'input-required': 'warn',
}

/** Reads a template once: its text is base64 of gzip of JSON. */
async function readTemplate<Value>(id: string): Promise<Value | undefined> {
  const element = await templateElement(id)
  if (!(element instanceof HTMLTemplateElement)) return undefined
  const base64 = element.content.textContent ?? ''
  element.remove()
  const binary = atob(base64)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text()) as Value
}

/** Messages come after the script, so the browser may not have read them yet. */
async function templateElement(id: string): Promise<Element | null> {
  const found = document.getElementById(id)
  if (found !== null || document.readyState !== 'loading') return found
  await new Promise((resolve) => {
    document.addEventListener('DOMContentLoaded', resolve, { once: true })
  })
  return document.getElementById(id)
}

export type View = 'all' | 'failed' | 'warned' | 'findings'

/** What the user has chosen. */
export const report = signal<Report | undefined>(undefined)
export const problem = signal('')
export const filterText = signal('')
export const view = signal<View>('all')
export const selected = signal(-1)
/** The visible part of the timeline, in milliseconds. */
export const range = signal<readonly [from: number, to: number]>([0, 1])
/** Set if only rows in the visible part of the timeline are listed. */
export const isRangeFilter = signal(false)
/** Grows when messages were unpacked for a filter. */
const unpacked = signal(0)

interface FilterResult {
  readonly rows: readonly number[]
  readonly error: string
  readonly isWaiting: boolean
}

/** The rows that are listed. */
export const shown = computed<FilterResult>(() => {
  void unpacked.value
  const current = report.value
  if (current === undefined) return { rows: [], error: '', isWaiting: false }
  const text = filterText.value.trim()
  let filter: FilterExpression | undefined
  try {
    filter = text === '' ? undefined : parseFilter(text)
  } catch (error) {
    return { rows: allRows(current), error: error instanceof Error ? error.message : '', isWaiting: false }
  }
  const isLimited = isRangeFilter.value
  if (filter === undefined && !isLimited && view.value === 'all')
    return { rows: allRows(current), error: '', isWaiting: false }
  const [from, to] = isLimited ? range.value : [0, 0]
  const rows: number[] = []
  const missing = { isMissing: false }
  for (let row = 0; row < current.size; row++) {
    if (!isInView(current, row, view.value)) continue
    if (isLimited && !isInRange(current, row, from, to)) continue
    if (filter?.matches(subjectOf(current, row, missing)) === false) continue
    rows.push(row)
  }
  if (missing.isMissing) void unpackAll(current)
  return { rows, error: '', isWaiting: missing.isMissing }
})

let isUnpacking = false

async function unpackAll(current: Report): Promise<void> {
  if (isUnpacking) return
  isUnpacking = true
  await current.loadAll()
  unpacked.value++
}

function allRows({ size }: Report): readonly number[] {
  return Array.from({ length: size }, (_, row) => row)
}

function isInView(current: Report, row: number, wanted: View): boolean {
  if (wanted === 'all') return true
  if (wanted === 'findings') return current.findings(row).length > 0
  return current.tone(row) === (wanted === 'failed' ? 'bad' : 'warn')
}

function isInRange({ data }: Report, row: number, from: number, to: number): boolean {
  const at = data.rows.at[row] ?? -1
  return at >= 0 && at <= to && at + Math.max(0, data.rows.duration[row] ?? 0) >= from
}

/** A row as the filter of the command line sees an exchange. */
function subjectOf(current: Report, row: number, missing: { isMissing: boolean }): FilterSubject {
  const { data } = current
  const [server, conn] = splitLink(current.text('link', row))
  const duration = data.rows.duration[row] ?? -1
  const messages = (): RowMessages => {
    const loaded = current.loadedMessages(row)
    if (loaded === undefined) missing.isMissing = true
    return loaded ?? []
  }
  return {
    exchange: data.rows.number[row],
    server,
    conn,
    kinds: ['request', 'response'],
    dirs: ['c2s'] satisfies readonly Direction[],
    methods: [current.text('method', row)],
    target: current.text('target', row) || undefined,
    status: current.text('status', row) as OutcomeKind,
    durationMs: duration < 0 ? undefined : duration,
    texts: () => messages().map(({ text }) => text),
    value: (root) => {
      for (const { text } of messages()) {
        const value: unknown = member(parseJson(text), root)
        if (value !== undefined) return value
      }
      return undefined
    },
  }
}

function splitLink(link: string): readonly [string | undefined, number | undefined] {
  const at = link.lastIndexOf('/')
  return at < 0 ? [undefined, undefined] : [link.slice(0, at), Number(link.slice(at + 1))]
}

export async function openReport(): Promise<void> {
  try {
    const data = await readTemplate<PageData>('reelay-data')
    if (data === undefined) throw new Error('This page contains no report.')
    const opened = new Report(data)
    batch(() => {
      range.value = [opened.begin, opened.end]
      report.value = opened
      selected.value = firstWithFindings(opened)
    })
  } catch (error) {
    problem.value = error instanceof Error ? error.message : 'The report cannot be read.'
  }
}

/** A failure is what most readers look for. */
function firstWithFindings(current: Report): number {
  const rows = Object.keys(current.data.findings).map(Number)
  const failed = rows.filter((row) => current.tone(row) === 'bad')
  return Math.min(...(failed.length > 0 ? failed : rows.length > 0 ? rows : [0]), current.size - 1)
}
