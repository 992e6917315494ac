import { brief, briefRequest, toolOf } from './brief.ts'
import type { Difference } from './field-diff.ts'
import type { Miss } from './miss.ts'
import type { Candidate } from './nearest.ts'
import { formatPath } from '../wire/path.ts'
import type { Fix } from './fixes.ts'
import { visible } from '../wire/visible.ts'

/** The miss report for people: the reason first, then what came nearest, and what would accept the difference. */
export function missAsText(miss: Miss): string {
  return [
    line('REPLAY MISS', `${named(miss)}   tape: ${miss.tape}`),
    line('why', `${miss.reason}: ${miss.why}`),
    line('asked', briefRequest(miss.asked, 200)),
    ...nearestLines(miss),
    ...othersLine(miss),
    ...(miss.next === undefined ? [] : [line('next', `#${miss.next.frame} ${briefRequest(miss.next)}`)]),
    ...fixLines(miss.fixes),
  ]
    .map((text) => visible(text))
    .join('\n')
}

const OTHERS = 2
const SHOWN = 12

function line(label: string, text: string): string {
  return `${label.padEnd(11)}  ${text}`
}

function named({ asked }: Miss): string {
  return [asked.method, toolOf(asked)].filter((word) => word !== undefined).join(' ')
}

function nearestLines(miss: Miss): readonly string[] {
  const { nearest, recordedAt } = miss
  const [top] = nearest
  if (top === undefined) return []
  const among = nearest.length > 1 ? ` of ${nearest.length} candidates` : ''
  const when = recordedAt === undefined ? '' : `, recorded ${new Date(recordedAt).toISOString().slice(0, 10)}`
  return [
    line('nearest', briefCandidate(top, among, when)),
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
        .slice(0, OTHERS)
        .map((other) => briefCandidate(other))
        .join('; '),
    ),
  ]
}

function briefCandidate({ frame, distance, entry }: Candidate, among = '', when = ''): string {
  return `#${frame}${among}, distance ${distance.toFixed(2)}${when}, used ${entry.used} of ${entry.answers} times`
}

function differenceLines({ differences }: Candidate, miss: Miss): readonly string[] {
  const width = Math.max(0, ...differences.slice(0, SHOWN).map(({ path }) => formatPath(path).length))
  return [
    ...differences.slice(0, SHOWN).map((difference) => differenceLine(difference, width, miss)),
    ...(differences.length > SHOWN ? [`  ~ and ${differences.length - SHOWN} more`] : []),
  ]
}

function differenceLine({ path, recorded, got }: Difference, width: number, miss: Miss): string {
  const at = formatPath(path)
  return `  ~ ${at.padEnd(width)}   recorded ${shown(recorded)}   got ${shown(got)}${annotated(at, miss)}`
}

function equalLines({ equal }: Candidate, miss: Miss): readonly string[] {
  const paths = equal.map((path) => formatPath(path))
  const known = paths.filter((path) => annotated(path, miss) !== '').slice(0, SHOWN)
  const plain = paths.filter((path) => !known.includes(path))
  return [
    ...known.map((path) => `  = ${path}${annotated(path, miss)}`),
    ...(plain.length > 0 ? [`  = ${pathList(plain)}`] : []),
  ]
}

function annotated(at: string, { annotations }: Miss): string {
  const { looksLike, boundTo, value, rule } = annotations.find(({ path }) => path === at) ?? {}
  return [
    value === undefined ? '' : `   ${shown(value)}`,
    rule === undefined ? '' : `   (rule: ${rule})`,
    looksLike === undefined ? '' : `   looks like: ${looksLike}`,
    boundTo === undefined ? '' : `   (bound to #${boundTo.frame} ${formatPath(boundTo.path)})`,
  ].join('')
}

function shown(value: unknown): string {
  return value === undefined ? '(nothing)' : brief(value, 60)
}

function pathList(paths: readonly string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  return paths.slice(0, SHOWN).join(', ') + more
}

function fixLines(fixes: readonly Fix[]): readonly string[] {
  const width = Math.max(0, ...fixes.map(({ what }) => what.length))
  return fixes.flatMap(({ what, command, note }, place) => [
    line(place === 0 ? 'fix one' : '', `${what.padEnd(width)}   ${command}`),
    ...(note === undefined ? [] : [line('', `${' '.repeat(width)}   (${note})`)]),
  ])
}
