import { brief, briefRequest, toolOf } from './brief.ts'
import type { Difference } from './field-diff.ts'
import type { Miss } from './miss.ts'
import type { Candidate } from './nearest.ts'
import { formatPath, type Path } from '../wire/path.ts'
import { visible } from '../wire/visible.ts'

/** The miss report for people: the reason first, then what came nearest, and what would accept the difference. */
export function missAsText(miss: Miss): string {
  const [top, ...others] = miss.nearest
  return [
    line('REPLAY MISS', `${named(miss)}   tape: ${miss.tape}`),
    line('why', `${miss.reason}: ${miss.why}`),
    line('asked', briefRequest(miss.asked, 200)),
    ...(top === undefined ? [] : candidateLines(top, miss.nearest.length)),
    ...(others.length === 0
      ? []
      : [
          line(
            'others',
            others
              .slice(0, OTHERS)
              .map((other) => briefCandidate(other))
              .join('; '),
          ),
        ]),
    ...(miss.next === undefined ? [] : [line('next', `#${miss.next.frame} ${briefRequest(miss.next)}`)]),
    ...(miss.accept === undefined ? [] : acceptLines(miss.accept)),
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

function candidateLines(candidate: Candidate, of: number): readonly string[] {
  const { differences, equal } = candidate
  const width = Math.max(0, ...differences.slice(0, SHOWN).map(({ path }) => formatPath(path).length))
  return [
    line('nearest', briefCandidate(candidate, of > 1 ? ` of ${of} candidates` : '')),
    ...differences.slice(0, SHOWN).map((difference) => differenceLine(difference, width)),
    ...(differences.length > SHOWN ? [`  ~ and ${differences.length - SHOWN} more`] : []),
    ...(equal.length > 0 ? [`  = ${pathList(equal)}`] : []),
  ]
}

function briefCandidate({ frame, distance, entry }: Candidate, among = ''): string {
  return `#${frame}${among}, distance ${distance.toFixed(2)}, used ${entry.used} of ${entry.answers} times`
}

function differenceLine({ path, recorded, got }: Difference, width: number): string {
  return `  ~ ${formatPath(path).padEnd(width)}   recorded ${shown(recorded)}   got ${shown(got)}`
}

function shown(value: unknown): string {
  return value === undefined ? '(nothing)' : brief(value, 60)
}

function pathList(paths: readonly Path[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  return paths.slice(0, SHOWN).map(formatPath).join(', ') + more
}

function acceptLines({ command, note }: NonNullable<Miss['accept']>): readonly string[] {
  return [line('accept', command), ...(note === undefined ? [] : [line('', note)])]
}
