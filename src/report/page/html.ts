import { gzipSync } from 'node:zlib'
import { ReelayError } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { canonicalJson } from '../../json/canonical.ts'
import type { ReportDocument, ReportFinding, ReportItem } from '../document.ts'
import { RULES } from '../rules.ts'
import type { PageChart, PageData, PageFinding, PageMessage, PageTable, RowMessages } from './page-data.ts'

export interface PageOptions {
  /** The page without data, which the build makes from `ui/`. */
  readonly page: string
  /** Replaces secrets. This must happen before the data is compressed. */
  readonly redact: (text: string) => string
}

/** A row of the page: an item of a report, with what a list, a timeline and an inspector need. */
export interface PageRow {
  readonly item: ReportItem
  readonly method: string
  readonly target?: string | undefined
  readonly link?: string | undefined
  /** Milliseconds from the start. */
  readonly at?: number | undefined
  readonly status: string
  readonly outcome: string
  readonly marks?: readonly { readonly at: number; readonly isRequest: boolean }[]
  readonly messages: () => RowMessages
}

export interface PageContent {
  readonly document: ReportDocument
  readonly sides?: readonly [before: string, after: string]
  readonly rows: Iterable<PageRow>
  readonly charts?: readonly PageChart[]
  readonly tables?: readonly PageTable[]
}

/**
 * Writes one HTML file that needs nothing else. The data are compressed and in `<template>` elements, which a browser does not render, run
 * or load anything from. The index comes before the script, the messages after it, so that a long report shows its list at once.
 */
export function* pageAsHtml(content: PageContent, options: PageOptions): Generator<string> {
  const { document, rows } = content
  const { page, redact } = options
  const at = page.indexOf(DATA_PLACE)
  const end = page.lastIndexOf('</body>')
  if (at < 0 || end < 0)
    throw new ReelayError('UNEXPECTED', 'the page of the report is missing in this build', {
      hint: 'build it with npm run build',
    })
  const index = new PageIndex()
  const chunks: string[] = []
  let open: RowMessages[] = []
  const close = (): void => {
    if (open.length > 0) chunks.push(template(`messages-${chunks.length}`, redact(JSON.stringify(open))))
    open = []
  }
  for (const row of rows) {
    index.add(row)
    open.push(row.messages().map(limited))
    if (open.length === CHUNK_ROWS) close()
  }
  close()
  yield page
    .slice(0, at)
    .replace('<title>Reelay</title>', () => `<title>${titleOf(document, redact)}</title>`)
  yield template('data', redact(JSON.stringify(index.data(content))))
  yield page.slice(at + DATA_PLACE.length, end)
  yield* chunks
  yield page.slice(end)
}

/** Where the build leaves room for the data. */
const DATA_PLACE = '<!-- data -->'
const CHUNK_ROWS = 128
/** A longer message is cut in the page; the tape has all of it. */
const MOST_CHARACTERS = 2_000_000

function limited(message: PageMessage): PageMessage {
  const { text } = message
  return text.length <= MOST_CHARACTERS ? message : { ...message, text: `${text.slice(0, MOST_CHARACTERS)}…` }
}

function template(id: string, text: string): string {
  return `<template id="reelay-${id}">${gzipSync(text, { level: 6 }).toString('base64')}</template>\n`
}

function titleOf({ command, subject, verdict }: ReportDocument, redact: (text: string) => string): string {
  const name = subject.replaceAll(/\S*[\\/]/g, '')
  return redact(`${verdict === 'none' ? '' : `${verdict}: `}reelay ${command} ${name}`)
    .slice(0, 200)
    .replaceAll(/[^\w .,:#@/-]/g, '_')
}

class PageIndex {
  readonly #texts = new Map<string, number>()
  readonly #rows = {
    number: [] as number[],
    at: [] as number[],
    duration: [] as number[],
    method: [] as number[],
    target: [] as number[],
    link: [] as number[],
    status: [] as number[],
    outcome: [] as number[],
    reproduce: [] as number[],
  }
  readonly #marks = { row: [] as number[], at: [] as number[], kind: [] as number[] }
  readonly #findings: Record<number, readonly PageFinding[]> = {}

  add({ item, method, target = '', link = '', at = -1, status, outcome, marks = [] }: PageRow): void {
    const rows = this.#rows
    const row = rows.number.length
    rows.number.push(item.exchange ?? 0)
    rows.at.push(rounded(at))
    rows.duration.push(rounded(item.duration ?? -1))
    rows.method.push(this.#text(method))
    rows.target.push(this.#text(target))
    rows.link.push(this.#text(link))
    rows.status.push(this.#text(status))
    rows.outcome.push(this.#text(outcome))
    // Most rows have the command of their number, which the page can write itself.
    rows.reproduce.push(item.findings.length === 0 ? -1 : this.#text(item.reproduce ?? ''))
    if (item.findings.length > 0) this.#findings[row] = item.findings.map(pageFinding)
    for (const mark of marks.slice(0, MOST_MARKS)) {
      this.#marks.row.push(row)
      this.#marks.at.push(rounded(mark.at))
      this.#marks.kind.push(mark.isRequest ? 1 : 0)
    }
  }

  data({ document, sides, charts = [], tables = [] }: PageContent): PageData {
    const { command, subject, verdict, summary, started, notes, reproduce } = document
    return {
      version: 1,
      generator: `reelay ${VERSION}`,
      command,
      subject,
      verdict,
      summary,
      started,
      notes,
      reproduce,
      sides,
      texts: [...this.#texts.keys()],
      rows: this.#rows,
      marks: this.#marks,
      findings: this.#findings,
      charts,
      tables,
      chunkRows: CHUNK_ROWS,
    }
  }

  #text(text: string): number {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    const index = this.#texts.size
    this.#texts.set(text, index)
    return index
  }
}

/** Marks that one row can have on the timeline. */
const MOST_MARKS = 1000

/** Microseconds, the precision of a tape. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1000
}

function pageFinding({ rule, severity, message, path, before, after }: ReportFinding): PageFinding {
  return {
    rule,
    title: RULES[rule].title,
    severity,
    message,
    ...(path !== undefined && { path }),
    ...(before !== undefined && { before: valueText(before) }),
    ...(after !== undefined && { after: valueText(after) }),
  }
}

function valueText(value: unknown): string {
  const text = typeof value === 'string' ? value : canonicalJson(value)
  return text.length > 4000 ? `${text.slice(0, 4000)}…` : text
}
