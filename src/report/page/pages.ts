import type { ContractCheck } from '../../compare/check-contract.ts'
import type { CoverageReport } from '../../compare/coverage.ts'
import type { TapeDiff } from '../../compare/diff-tapes.ts'
import type { RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import { openIndexedTape, type IndexedTape } from '../../store/index/indexed-tape.ts'
import { messagesOfTurn, turnStoreOf, type RecordedMessage, type Turn } from '../../tape/turns.ts'
import { lazily, type FindingSeverity, type ReportItem } from '../document.ts'
import {
  contractDocument,
  coverageDocument,
  diffDocument,
  diffsDocument,
  inspectionDocument,
  inspectionItem,
  loadDocument,
  replayDocument,
  replayItem,
  type DocumentContext,
} from '../documents.ts'
import {
  connectionLabel,
  latencyBetween,
  summarizeArguments,
  summarizeOutcome,
  type ExchangeFacts,
} from '../exchanges.ts'
import { variationsDocument, type VariationReport } from '../failures/variations.ts'
import type { TapeDiffs } from '../findings.ts'
import type { Inspection } from '../inspect/inspect.ts'
import { loadCharts, loadTable, type LoadReport } from '../load.ts'
import { migrationDocument, type TapeMigration } from '../migration.ts'
import { isHandshakeStep } from '../replay.ts'
import { pageAsHtml, type PageContent, type PageOptions, type PageRow } from './html.ts'
import type { PageMessage } from './page-data.ts'

/** Each function makes the page of one subject. */
export type MakePage<Input> = (
  input: Input,
  context: DocumentContext,
  options: PageOptions,
) => Iterable<string> | Promise<Iterable<string>>

export const inspectionPage: MakePage<Inspection> = (inspection, context, options) => {
  const { path, exchanges } = inspection
  const content = {
    document: inspectionDocument(inspection, context),
    rows: lazily(() => exchangeRows(exchanges, path)),
  }
  return pageAsHtml(content, options)
}

function* exchangeRows(exchanges: readonly ExchangeFacts[], path: string): Generator<PageRow> {
  for (const exchange of exchanges) {
    const { request, target, steps, outcome } = exchange
    const messages = [request, ...steps.flatMap(messagesOf)]
    yield {
      item: inspectionItem(exchange, path),
      method: request.message.method,
      target,
      link: connectionLabel(request),
      at: request.t,
      status: outcome.kind,
      // What succeeded is told by its colour, so that there is room for the arguments.
      outcome:
        (outcome.kind === 'ok' && summarizeArguments(request.message.params)) ||
        summarizeOutcome(outcome).text,
      marks: steps.flatMap((step) => {
        if (step.kind === 'respond') return []
        const { t } = step.kind === 'ask' ? step.request : step.message
        return [{ at: t, isRequest: step.kind === 'ask' }]
      }),
      messages: () => messages.map((message) => pageMessage(message)),
    }
  }
}

function messagesOf(step: Turn['steps'][number]): readonly RecordedMessage[] {
  if (step.kind !== 'ask') return [step.message]
  return step.answer === undefined ? [step.request] : [step.request, step.answer]
}

function pageMessage({ message, dir, t, text }: RecordedMessage, side?: 0 | 1): PageMessage {
  const method = 'method' in message ? ` ${message.method}` : ''
  return { label: `${message.kind}${method}`, dir, at: t, text, ...(side !== undefined && { side }) }
}

export const replayPage: MakePage<RepeatedReport> = (report, context, options) => {
  const content: PageContent = {
    document: replayDocument(report, context),
    sides: ['recorded', 'live'],
    rows: lazily(() => stepRows(report.steps, context)),
  }
  return pageAsHtml(content, options)
}

function* stepRows(steps: Iterable<ReplayStep>, { commandLine }: DocumentContext): Generator<PageRow> {
  for (const step of steps) {
    if (isHandshakeStep(step) || (step.exchange === undefined && step.findings.length === 0)) continue
    const item = replayItem(step, commandLine)
    const { sent, answer, recordedAnswer, notifications } = step
    yield {
      item,
      method: step.method,
      target: step.tool,
      at: step.sentAt,
      status: item.status,
      outcome: item.findings[0]?.message ?? step.why ?? '',
      messages: () => [
        ...sideMessage('sent', 'c2s', sent),
        ...sideMessage('response', 's2c', recordedAnswer, 0),
        ...sideMessage('response', 's2c', answer, 1),
        ...sideMessage('other messages of the server', 's2c', notifications),
      ],
    }
  }
}

function sideMessage(
  label: string,
  dir: PageMessage['dir'],
  text: string | undefined,
  side?: 0 | 1,
): readonly PageMessage[] {
  return text === undefined ? [] : [{ label, dir, text, ...(side !== undefined && { side }) }]
}

/** The exchanges that differ are read from both tapes again. */
export const diffPage: MakePage<TapeDiff> = async (diff, context, options) => {
  const document = diffDocument(diff, context)
  const both = [await openIndexedTape(diff.before.path), await openIndexedTape(diff.after.path)]
  try {
    const [before, after] = both.map(exchangeReader)
    const changes = new Map(diff.exchanges.map((change, at) => [at, change]))
    const changedFrom = [...document.items].findIndex(
      ({ group, exchange }) => group === 'exchanges' && exchange !== undefined,
    )
    const rows = [...document.items].map((item, at): PageRow => {
      const change = changedFrom < 0 ? undefined : changes.get(at - changedFrom)
      if (change === undefined) return itemRow(item)
      const [then, now] = [
        change.before === undefined ? undefined : before?.(change.before),
        change.after === undefined ? undefined : after?.(change.after),
      ]
      const [method = '', ...target] = change.call.split(' ')
      const { trigger, response } = now ?? then ?? {}
      const duration = trigger && response && latencyBetween(trigger, response)
      return {
        ...itemRow({ ...item, ...(duration !== undefined && { duration }) }),
        method,
        target: target.join(' '),
        at: trigger?.t,
        outcome: `${change.kind}: ${worstMessage(item)}`,
        messages: () => [
          ...(then === undefined ? [] : messagesOfTurn(then).map((each) => pageMessage(each, 0))),
          ...(now === undefined ? [] : messagesOfTurn(now).map((each) => pageMessage(each, 1))),
        ],
      }
    })
    return [...pageAsHtml({ document, sides: ['before', 'after'], rows: worstFirst(rows) }, options)]
  } finally {
    for (const tape of both) tape.close()
  }
}

function exchangeReader({ turns }: IndexedTape): (exchange: number) => Turn | undefined {
  const store = turnStoreOf(turns)
  const places = new Map<number, number>()
  for (let place = 0; place < store.size; place++) {
    const exchange = store.exchangeOf(place)
    if (exchange !== undefined) places.set(exchange, place)
  }
  return (exchange) => {
    const place = places.get(exchange)
    return place === undefined ? undefined : store.at(place)
  }
}

function itemRow(item: ReportItem): PageRow {
  const [, kind, target] = /^(tool|prompt|resource|template) (.+)$/u.exec(item.name) ?? []
  return {
    item,
    method: kind ?? item.name,
    target,
    status: item.status,
    outcome: worstMessage(item),
    messages: () => [],
  }
}

const SEVERITIES: readonly FindingSeverity[] = ['error', 'warning', 'note']

function worstMessage({ findings }: ReportItem): string {
  const [worst] = SEVERITIES.flatMap((severity) => findings.filter((one) => one.severity === severity))
  return worst?.message ?? ''
}

/** What failed is what a reader of a comparison looks for. */
function worstFirst(rows: readonly PageRow[]): readonly PageRow[] {
  return rows.toSorted((one, other) => rankOf(one) - rankOf(other))
}

function rankOf({ item: { status, findings } }: PageRow): number {
  if (status === 'failed') return 0
  if (status === 'warned') return 1
  return findings.length > 0 ? 2 : 3
}

export const diffsPage: MakePage<TapeDiffs> = (diffs, context, options) =>
  itemsPage(diffsDocument(diffs, context), options)

export const contractPage: MakePage<ContractCheck> = (check, context, options) => {
  const document = contractDocument(check, context)
  return pageAsHtml({ document, rows: worstFirst([...itemRows(document.items)]) }, options)
}

export const coveragePage: MakePage<CoverageReport> = (report, context, options) =>
  itemsPage(coverageDocument(report, context), options)

export const migrationPage: MakePage<TapeMigration> = (report, context, options) =>
  itemsPage(migrationDocument(report, context), options)

export const variationsPage: MakePage<VariationReport> = (report, context, options) =>
  itemsPage(variationsDocument(report, context), options)

export const loadPage: MakePage<LoadReport> = (report, context, options) => {
  const document = loadDocument(report, context)
  const rows = lazily(() => itemRows(document.items))
  return pageAsHtml({ document, rows, charts: loadCharts(report), tables: [loadTable(report)] }, options)
}

function itemsPage(document: PageContent['document'], options: PageOptions): Iterable<string> {
  return pageAsHtml({ document, rows: lazily(() => itemRows(document.items)) }, options)
}

function* itemRows(items: Iterable<ReportItem>): Generator<PageRow> {
  for (const item of items) yield itemRow(item)
}
