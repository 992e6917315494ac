import { styleText } from 'node:util'
import {
  allPoints,
  coveredShare,
  type CoverageReport,
  type CoveredItem,
  type ServerCoverage,
} from '../compare/coverage.ts'
import type { CoverageKind, CoveragePoint, SuggestedCall } from '../compare/coverage-calls.ts'
import { describeValue } from '../match/describe-request.ts'
import { escapeControlChars, escapeControlCharsInJson, quoteShellWord, truncateText } from '../text.ts'
import { jsonDocument, jsonValue } from './json-text.ts'
import { alignRows, type TableCell } from './table.ts'

/** What a server offers, with what the tapes exercise of it, then the calls that would fill the gaps. */
export function coverageAsText(report: CoverageReport): string {
  if (report.servers.length === 0) return 'no server was recorded\n'
  const sections = report.servers.flatMap((server) => [
    serverLines(server),
    ...(server.items.length === 0 ? [] : [itemLines(server.items)]),
    ...callSections(server),
  ])
  return `${[...sections, [coverageSummary(report)]].map((lines) => lines.join('\n')).join('\n\n')}\n`
}

function serverLines({ name, unlisted, unknownLists }: ServerCoverage): readonly string[] {
  return [
    styleText('bold', `server ${escapeControlChars(name)}`),
    ...unknownLists.map(
      (list) => `note: no tape asks for the ${list} of the server, so they are not counted`,
    ),
    ...unlisted.map((key) => `note: ${truncateText(key, 100)} is used, but not listed`),
  ]
}

function itemLines(items: readonly CoveredItem[]): readonly string[] {
  return alignRows(
    items.map((item): readonly TableCell[] => {
      const { kind, name, calls, errors, points } = item
      const share = coveredShare(points)
      return [
        { text: `  ${kind}` },
        { text: truncateText(name, 48), style: 'bold' },
        { text: `${Math.floor(share * 100)} %`, align: 'right', ...(share < 1 && { style: 'yellow' }) },
        { text: usesText(calls, errors), align: 'right' },
        { text: gapsText(item) },
      ]
    }),
  )
}

function usesText(calls: number, errors: number): string {
  return errors === 0 ? `${calls}×` : `${calls}×, ${errors} failed`
}

const MOST_GAPS = 8

/** What is missing, in a few words: `limit; status "closed", "lost"; an error`. */
export function gapsText({ points }: Pick<CoveredItem, 'points'>): string {
  const missing = points.filter(({ uses }) => uses === 0)
  if (missing.some(({ kind }) => kind === 'use')) return 'not used'
  const unused = new Set(missing.filter(({ kind }) => kind === 'argument').map(({ path }) => pathText(path)))
  const values = new Map<string, string[]>()
  for (const { kind, path, value } of missing)
    if (kind === 'value' && !unused.has(pathText(path)))
      values.set(pathText(path), [...(values.get(pathText(path)) ?? []), describeValue(value, 20)])
  const gaps = [
    ...unused,
    ...Array.from(values, ([path, list]) => `${path} ${list.join(', ')}`),
    ...(missing.some(({ kind }) => kind === 'error') ? ['an error'] : []),
  ]
  const more = gaps.length > MOST_GAPS ? [`${gaps.length - MOST_GAPS} more`] : []
  return gaps.length === 0
    ? ''
    : truncateText(`missing: ${[...gaps.slice(0, MOST_GAPS), ...more].join('; ')}`, 160)
}

/** `filter.tags[]` */
export function pathText(path: readonly string[] = []): string {
  return path.join('.').replaceAll('.[]', '[]')
}

function callSections(server: ServerCoverage): readonly (readonly string[])[] {
  const calls = server.items.flatMap(({ suggestions }) => suggestions)
  const [safe, writing] = [
    calls.filter(({ mayWrite }) => !mayWrite),
    calls.filter(({ mayWrite }) => mayWrite),
  ]
  const section = (title: string, list: readonly SuggestedCall[]): readonly (readonly string[])[] =>
    list.length === 0 ? [] : [[title, ...list.map((each) => `  ${callCommandLine(each, server)}`)]]
  return [
    ...section('calls that would fill the gaps:', safe),
    ...section('calls of tools that are not marked as read-only:', writing),
  ]
}

/** A command line that makes a call: `reelay call search query=milk limit=5 -- node server.js`. */
export function callCommandLine(
  { kind, name, arguments: values }: SuggestedCall,
  { target }: Pick<ServerCoverage, 'target'>,
): string {
  const given = Object.entries(values).map(([key, value]) => `${key}${argumentText(value)}`)
  const what = kind === 'tool' ? [name] : [kind === 'prompt' ? '--prompt' : '--resource', name]
  const words = ['reelay', 'call', ...what, ...given]
  return escapeControlChars([...words.map(quoteShellWord), ...serverWords(target)].join(' '))
}

/** `=` and the value, or `:=` and JSON for what could be read as another value. */
function argumentText(value: unknown): string {
  const isPlain =
    typeof value === 'string' && escapeControlChars(value) === value && !/^[\d[{"tfn-]/.test(value)
  if (isPlain || typeof value === 'number' || typeof value === 'boolean') return `=${value}`
  const isWord =
    typeof value === 'string' && /^[a-z][\w./-]*$/i.test(value) && !/^(?:true|false|null)$/.test(value)
  return isWord ? `=${value}` : `:=${escapeControlCharsInJson(JSON.stringify(value))}`
}

function serverWords(target: ServerCoverage['target']): readonly string[] {
  if (target?.command !== undefined) return ['--', ...target.command.map(quoteShellWord)]
  return target?.url === undefined ? ['--', '<server command>'] : ['--url', quoteShellWord(target.url)]
}

const KIND_NAMES: Readonly<Record<CoverageKind, string>> = {
  use: 'tools, prompts and resources',
  argument: 'arguments',
  value: 'values',
  error: 'error paths',
}

/** `tools, prompts and resources 3 of 5, arguments 4 of 10, values 3 of 8, error paths 1 of 4: 55 %` */
export function coverageSummary(report: CoverageReport): string {
  const points = allPoints(report)
  const counts = Object.entries(KIND_NAMES).flatMap(([kind, name]) => {
    const own = points.filter((point) => point.kind === kind)
    return own.length === 0 ? [] : [`${name} ${own.filter(({ uses }) => uses > 0).length} of ${own.length}`]
  })
  return `${Math.floor(coveredShare(points) * 100)} % covered: ${counts.join(', ') || 'nothing is listed'}`
}

/** The coverage for programs, as defined by `schema/coverage-report-1.json`. */
export function coverageAsJson(report: CoverageReport): string {
  const points = allPoints(report)
  return jsonDocument({
    reelayCoverage: '1',
    tapes: report.tapes.map(jsonValue),
    points: jsonValue(points.length),
    covered: jsonValue(points.filter(({ uses }) => uses > 0).length),
    servers: report.servers.map((server) =>
      jsonValue({
        name: server.name,
        unlisted: server.unlisted,
        unknownLists: server.unknownLists,
        items: server.items.map((item) => ({
          kind: item.kind,
          name: item.name,
          calls: item.calls,
          errors: item.errors,
          points: item.points.map(pointFacts),
          suggestions: item.suggestions.map((call) => ({
            arguments: call.arguments,
            mayWrite: call.mayWrite,
            covers: call.covers.map(pointFacts),
            command: callCommandLine(call, server),
          })),
        })),
      }),
    ),
  })
}

function pointFacts({ kind, path, value, uses }: CoveragePoint): Readonly<Record<string, unknown>> {
  return { kind, ...(path && { path: pathText(path) }), ...(kind === 'value' && { value }), uses }
}
