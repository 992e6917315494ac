import { ReelayError } from '../errors.ts'
import { parseDuration } from '../text.ts'

/** The number of users, or of sessions a second, over the time of a run: straight lines between points. */
export interface LoadShape {
  /** Milliseconds. */
  readonly duration: number
  readonly points: readonly ShapePoint[]
}

interface ShapePoint {
  readonly at: number
  readonly level: number
}

export const SHAPE_NAMES = ['constant', 'ramp', 'step', 'spike', 'soak'] as const
export type ShapeName = (typeof SHAPE_NAMES)[number]

/** Returns a named shape that reaches `level`. */
export function namedShape(name: ShapeName, level: number, duration: number): LoadShape {
  const at = (share: number, of: number): ShapePoint => ({ at: duration * share, level: level * of })
  switch (name) {
    case 'constant':
      return { duration, points: [at(0, 1), at(1, 1)] }
    case 'ramp':
      return { duration, points: [at(0, 0), at(1, 1)] }
    case 'step':
      return { duration, points: [1, 2, 3, 4].flatMap((n) => [at((n - 1) / 4, n / 4), at(n / 4, n / 4)]) }
    case 'spike':
      return {
        duration,
        points: [at(0, 0.2), at(0.4, 0.2), at(0.4, 1), at(0.6, 1), at(0.6, 0.2), at(1, 0.2)],
      }
    case 'soak':
      return { duration, points: [at(0, 0), at(0.05, 1), at(0.95, 1), at(1, 0)] }
  }
}

/** Reads stages such as `30s:50,2m:50,10s:0`: in each stage, the level moves in a straight line to its number. */
export function parseStages(text: string): LoadShape {
  const points: ShapePoint[] = [{ at: 0, level: 0 }]
  let duration = 0
  for (const stage of text.split(',')) {
    const [time = '', level = ''] = stage.trim().split(':')
    const milliseconds = parseDuration(time)
    if (milliseconds === undefined || !/^\d+(?:\.\d+)?$/.test(level)) throw stageError(stage)
    duration += milliseconds
    points.push({ at: duration, level: Number(level) })
  }
  if (duration === 0) throw stageError(text)
  return { duration, points }
}

function stageError(stage: string): ReelayError {
  return new ReelayError('USAGE', `invalid stage ${JSON.stringify(stage)} in --stages`, {
    hint: 'write each stage as duration:level, e.g. --stages 30s:50,2m:50,10s:0',
  })
}

/** The level at a time, in milliseconds from the start. */
export function levelAt({ points }: LoadShape, time: number): number {
  const next = points.findIndex(({ at }) => at > time)
  const [before, after] = next < 0 ? [points.at(-1), undefined] : [points[next - 1], points[next]]
  if (before === undefined || after === undefined) return (before ?? after)?.level ?? 0
  return before.level + ((after.level - before.level) * (time - before.at)) / (after.at - before.at)
}

export function highestLevel({ points }: LoadShape): number {
  return Math.max(...points.map(({ level }) => level))
}

/**
 * The times at which sessions start, in milliseconds, if the shape is a rate per second. With `random` the gaps vary as those of
 * independent users do; otherwise they are even.
 */
export function* arrivalTimes(shape: LoadShape, random?: () => number): Generator<number> {
  let wanted = 0
  let sum = 0
  const gap = (): number => (random === undefined ? 1 : -Math.log(1 - random()))
  for (let stage = 1; stage < shape.points.length; stage++) {
    const [from, to] = [shape.points[stage - 1]!, shape.points[stage]!]
    const seconds = (to.at - from.at) / 1000
    const area = ((from.level + to.level) / 2) * seconds
    while (wanted < sum + area) {
      yield from.at + 1000 * timeOfArea(wanted - sum, from.level, (to.level - from.level) / (seconds || 1))
      wanted += gap()
    }
    sum += area
  }
}

/** Solves `level * t + slope * t² / 2 = area` for t. */
function timeOfArea(area: number, level: number, slope: number): number {
  if (Math.abs(slope) < 1e-12) return level === 0 ? 0 : area / level
  return (Math.sqrt(Math.max(0, level * level + 2 * slope * area)) - level) / slope
}
