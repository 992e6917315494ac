import { describeValue, describeRequest } from '../describe-request.ts'
import { calledTool } from '../../protocol/methods.ts'
import type { FieldDifference } from '../field-diff.ts'
import type { Miss } from './miss.ts'
import type { NearestRequest } from './nearest.ts'
import { formatPath } from '../../json/path.ts'
import type { Fix } from './fixes.ts'
import { escapeControlChars } from '../../text.ts'

/** The miss report for people: the reason first, then what came nearest, and what would accept the difference. */
export function missAsText(miss: Miss): string {
  return [
    line('REPLAY MISS', `${methodAndTool(miss)}   tape: ${miss.tape}`),
    line('why', `${miss.reason}: ${miss.why}`),
    line('asked', describeRequest(miss.asked, 200)),
    ...nearestLines(miss),
    ...othersLine(miss),
    ...(miss.next === undefined ? [] : [line('next', `#${miss.next.frame} ${describeRequest(miss.next)}`)]),
    ...fixLines(miss.fixes),
  ]
    .map((text) => escapeControlChars(text))
    .join('\n')
}

const MOST_OTHERS = 2
const MOST_SHOWN = 12

function line(label: string, text: string): string {
  return `${label.padEnd(11)}  ${text}`
}

function methodAndTool({ asked }: Miss): string {
  return [asked.method, calledTool(asked)].filter((word) => word !== undefined).join(' ')
}

function nearestLines(miss: Miss): readonly string[] {
  const { nearest, recordedAt } = miss
  const [top] = nearest
  if (top === undefined) return []
  const among = nearest.length > 1 ? ` of ${nearest.length} candidates` : ''
  const when = recordedAt === undefined ? '' : `, recorded ${new Date(recordedAt).toISOString().slice(0, 10)}`
  return [
    line('nearest', describeNearest(top, among, when)),
    ...differenceLines(top, miss),
    ...equalLines(top, miss),
  ]
}

function othersLine({ nearest: [, ...others] }: Miss): readonly string[] {
  if (others.length === 0) return []
  return [
    line(
      'others',
      others
        .slice(0, MOST_OTHERS)
        .map((other) => describeNearest(other))
        .join('; '),
    ),
  ]
}

function describeNearest({ frame, distance, entry }: NearestRequest, among = '', when = ''): string {
  return `#${frame}${among}, distance ${distance.toFixed(2)}${when}, used ${entry.used} of ${entry.answers} times`
}

function differenceLines({ differences }: NearestRequest, miss: Miss): readonly string[] {
  const width = Math.max(0, ...differences.slice(0, MOST_SHOWN).map(({ path }) => formatPath(path).length))
  return [
    ...differences.slice(0, MOST_SHOWN).map((difference) => differenceLine(difference, width, miss)),
    ...(differences.length > MOST_SHOWN ? [`  ~ and ${differences.length - MOST_SHOWN} more`] : []),
  ]
}

function differenceLine({ path, recorded, got }: FieldDifference, width: number, miss: Miss): string {
  const at = formatPath(path)
  return `  ~ ${at.padEnd(width)}   recorded ${valueText(recorded)}   got ${valueText(got)}${annotationText(at, miss)}`
}

function equalLines({ equal }: NearestRequest, miss: Miss): readonly string[] {
  const paths = equal.map((path) => formatPath(path))
  const known = paths.filter((path) => annotationText(path, miss) !== '').slice(0, MOST_SHOWN)
  const plain = paths.filter((path) => !known.includes(path))
  return [
    ...known.map((path) => `  = ${path}${annotationText(path, miss)}`),
    ...(plain.length > 0 ? [`  = ${pathList(plain)}`] : []),
  ]
}

function annotationText(at: string, { annotations }: Miss): string {
  const { looksLike, boundTo, value, rule } = annotations.find(({ path }) => path === at) ?? {}
  return [
    value === undefined ? '' : `   ${valueText(value)}`,
    rule === undefined ? '' : `   (rule: ${rule})`,
    looksLike === undefined ? '' : `   looks like: ${looksLike}`,
    boundTo === undefined ? '' : `   (bound to #${boundTo.frame} ${formatPath(boundTo.path)})`,
  ].join('')
}

function valueText(value: unknown): string {
  return value === undefined ? '(nothing)' : describeValue(value, 60)
}

function pathList(paths: readonly string[]): string {
  const more = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : ''
  return paths.slice(0, MOST_SHOWN).join(', ') + more
}

function fixLines(fixes: readonly Fix[]): readonly string[] {
  const width = Math.max(0, ...fixes.map(({ what }) => what.length))
  return fixes.flatMap(({ what, command, note }, place) => [
    line(place === 0 ? 'fix one' : '', `${what.padEnd(width)}   ${command}`),
    ...(note === undefined ? [] : [line('', `${' '.repeat(width)}   (${note})`)]),
  ])
}
