import type { TurnOutline, TurnKind } from '../tape/turn-store.ts'
import { indexedStepsOf, type IndexedStep } from './step-rows.ts'
import { TURN_FLAG, TURN_FLAG_BITS, STEP_KIND, type TurnLabel, type TapeIndex } from './index/tape-index.ts'

/** What an index says of a turn. */
export function outlineFromIndex(index: TapeIndex, place: number): TurnOutline {
  const mark = index.mark.at(place)
  const { server, method, name } = index.labels[mark >>> TURN_FLAG_BITS] ?? EMPTY_LABEL
  return {
    trigger: triggerKindOf(mark),
    server,
    method,
    frame: index.frame.at(place),
    answered: (mark & TURN_FLAG.answered) !== 0,
    enveloped: (mark & TURN_FLAG.enveloped) !== 0,
    hasSteps: indexedStepsOf(index, place).some(isIntermediateStep),
    name,
  }
}

function isIntermediateStep({ kind }: IndexedStep): boolean {
  return kind === STEP_KIND.notify || kind === STEP_KIND.ask
}

/** The kinds of its turns. Those of one method are one kind, whatever they name. */
export function turnKindsInIndex({ kinds, labels }: TapeIndex): readonly TurnKind[] {
  const known = new Map<string, TurnKind>()
  for (const { mark, count, first } of kinds) {
    const { server, method } = labels[mark >>> TURN_FLAG_BITS] ?? EMPTY_LABEL
    const kind = { trigger: triggerKindOf(mark), server, method }
    const key = JSON.stringify(kind)
    const before = known.get(key) ?? { count: 0, first }
    known.set(key, { ...kind, count: before.count + count, first: before.first })
  }
  return [...known.values()]
}

function triggerKindOf(mark: number): TurnOutline['trigger'] {
  if ((mark & TURN_FLAG.request) !== 0) return 'request'
  return (mark & TURN_FLAG.notification) !== 0 ? 'notification' : 'none'
}

const EMPTY_LABEL: TurnLabel = { server: '', method: '', name: undefined }
