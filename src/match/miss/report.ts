import { exchangeLabel, type NumberedMessage } from '../../tape/turns.ts'
import { formatPath } from '../../json/path.ts'
import { describeValue, describeRequest, shortenValue } from '../describe-request.ts'
import type { FieldDifference } from '../field-diff.ts'
import type { Fix } from './fixes.ts'
import type { Miss } from './miss.ts'
import type { NearestRequest, ValueAnnotation, ValueOrigin } from './nearest.ts'
import type { MissReason } from './reasons.ts'
import type { RecordedRequest } from '../request-groups.ts'
import { comparedParams } from '../request-key.ts'
import { calledTool } from '../../protocol/message.ts'
import { escapeControlChars } from '../../text.ts'

/** Formats a miss for people: the reason, the nearest recorded request with its differences, and fixes. */
export function missAsText(miss: Miss): string {
  return [
    line('REPLAY MISS', `${methodAndTool(miss)}   tape: ${miss.tape}`),
    line('why', `${miss.reason}: ${miss.why}`),
    line('request', describeRequest(miss.request, 200)),
    ...nearestLines(miss),
    ...othersLine(miss),
    ...(miss.next === undefined
      ? []
      : [line('next', `${exchangeLabel(miss.next)} ${describeRequest(miss.next)}`)]),
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

function methodAndTool({ request }: Miss): string {
  return [request.method, calledTool(request)].filter((word) => word !== undefined).join(' ')
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

function describeNearest(nearest: NearestRequest, among = '', when = ''): string {
  const { distance, entry } = nearest
  return `${exchangeLabel(nearest)}${among}, distance ${distance.toFixed(2)}${when}, used ${entry.used} of ${entry.answers} times`
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
    boundTo === undefined ? '' : `   (bound to ${originText(boundTo)})`,
  ].join('')
}

function valueText(value: unknown, max = 60): string {
  return value === undefined ? '(missing)' : describeValue(value, max)
}

function pathList(paths: readonly string[]): string {
  const more = paths.length > MOST_SHOWN ? ` and ${paths.length - MOST_SHOWN} more` : ''
  return paths.slice(0, MOST_SHOWN).join(', ') + more
}

function fixLines(fixes: readonly Fix[]): readonly string[] {
  const width = Math.max(0, ...fixes.map(({ what }) => what.length))
  return fixes.flatMap(({ what, command, note }, place) => [
    line(place === 0 ? 'fixes' : '', `${what.padEnd(width)}   ${command}`),
    ...(note === undefined ? [] : [line('', `${' '.repeat(width)}   (${note})`)]),
  ])
}

/** Outside -32768..-32000, the range that JSON-RPC reserves, so that a recorded error is never mistaken for a miss. */
export const MISS_CODE = -39404

/** The miss report as a JSON-RPC error object. */
export interface MissError {
  readonly code: typeof MISS_CODE
  /** One line. */
  readonly message: string
  readonly data: {
    readonly kind: 'replay_miss'
    readonly reason: MissReason
    readonly why: string
    readonly method: string
    readonly tool?: string
    readonly tape: string
    readonly nearest: readonly NearestRequestData[]
    readonly fixes: readonly Fix[]
    /** The command of the first fix that applies to one run. */
    readonly accept?: string
    readonly next?: NextData
  }
}

interface NextData extends NumberedMessage {
  readonly method: string
  readonly params: unknown
}

export function missAsError(miss: Miss): MissError {
  const { reason, why, request, tape, fixes, next } = miss
  const tool = calledTool(request)
  const accept = fixes.find(({ kind }) => kind === 'run')
  return {
    code: MISS_CODE,
    message: missErrorMessage(miss),
    data: {
      kind: 'replay_miss',
      reason,
      why,
      method: request.method,
      ...(tool !== undefined && { tool }),
      tape,
      nearest: nearestRequestData(miss),
      fixes,
      ...(accept && { accept: accept.command }),
      ...(next && { next: nextData(next) }),
    },
  }
}

function missErrorMessage({ reason, why, request, nearest, next }: Miss): string {
  const [top] = nearest
  const first = top?.differences[0]
  const differs =
    top === undefined || first === undefined
      ? ''
      : ` (nearest ${exchangeLabel(top)}: ${fieldDifferenceText(first)})`
  const expected =
    next === undefined
      ? 'every recorded request has been used'
      : `next expected: ${exchangeLabel(next)} ${describeRequest(next)}`
  return `REPLAY MISS ${reason}: ${describeRequest(request)}: ${why}${differs}; ${expected}`
}

function fieldDifferenceText({ path, recorded, got }: FieldDifference): string {
  return `${formatPath(path)} recorded ${valueText(recorded, 40)}, got ${valueText(got, 40)}`
}

function nextData(next: RecordedRequest): NextData {
  const { frame, exchange, method } = next
  const params = shortenValue(comparedParams(next))
  return { frame, ...(exchange !== undefined && { exchange }), method, params }
}

interface NearestRequestData extends NumberedMessage {
  readonly distance: number
  readonly used: number
  readonly of: number
  /** When the request was recorded, as ISO 8601. Only the nearest one has it. */
  readonly recorded?: string
  readonly differences: readonly DifferenceData[]
  /** The responses that equal values came from. */
  readonly bound?: readonly { readonly path: string; readonly boundTo: string }[]
}

interface DifferenceData {
  readonly path: string
  readonly recorded?: unknown
  readonly got?: unknown
  readonly looksLike?: string
  readonly rule?: string
  /** The exchange and the path in its response that the recorded value came from. */
  readonly boundTo?: string
}

const MOST_NEAREST = 3
const MOST_DIFFERENCES = 20

/** The nearest recorded requests. Only the first one has annotations. */
function nearestRequestData({ nearest, annotations, recordedAt }: Miss): readonly NearestRequestData[] {
  return nearest.slice(0, MOST_NEAREST).map(({ frame, exchange, distance, entry, differences }, place) => {
    const known = place === 0 ? annotations : []
    const shown = differences.slice(0, MOST_DIFFERENCES).map((each) => differenceData(each, known))
    const bound = known.flatMap(({ path, boundTo }) =>
      boundTo === undefined || shown.some((one) => one.path === path)
        ? []
        : [{ path, boundTo: originText(boundTo) }],
    )
    return {
      frame,
      ...(exchange !== undefined && { exchange }),
      distance: Math.round(distance * 1000) / 1000,
      used: entry.used,
      of: entry.answers,
      differences: shown,
      ...(place === 0 && recordedAt !== undefined && { recorded: new Date(recordedAt).toISOString() }),
      ...(bound.length > 0 && { bound }),
    }
  })
}

function differenceData(
  { path, ...sides }: FieldDifference,
  annotations: readonly ValueAnnotation[],
): DifferenceData {
  const at = formatPath(path)
  const { looksLike, boundTo, rule } = annotations.find((each) => each.path === at) ?? {}
  return {
    path: at,
    ...('recorded' in sides && { recorded: shortenValue(sides.recorded) }),
    ...('got' in sides && { got: shortenValue(sides.got) }),
    ...(rule !== undefined && { rule }),
    ...(looksLike !== undefined && { looksLike }),
    ...(boundTo !== undefined && { boundTo: originText(boundTo) }),
  }
}

function originText(origin: ValueOrigin): string {
  return `${exchangeLabel(origin)} ${formatPath(origin.path)}`
}
