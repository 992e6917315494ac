import type { Outline, TurnKind } from '../tape/turn-store.ts'
import { stepsOf, type StepRow } from './step-rows.ts'
import { MARK, MARK_BITS, STEP, type Label, type TapeIndex } from './tape-index.ts'

/** What an index says of a turn. */
export function outlineIn(index: TapeIndex, place: number): Outline {
  const mark = index.mark.at(place)
  const { server, method, name } = index.labels[mark >>> MARK_BITS] ?? NO_LABEL
  return {
    trigger: kindIn(mark),
    server,
    method,
    frame: index.frame.at(place),
    answered: (mark & MARK.answered) !== 0,
    enveloped: (mark & MARK.enveloped) !== 0,
    hasSteps: stepsOf(index, place).some(isMoreThanAnAnswer),
    name,
  }
}

function isMoreThanAnAnswer({ kind }: StepRow): boolean {
  return kind === STEP.notify || kind === STEP.ask
}

/** The kinds of its turns. Those of one method are one kind, whatever they name. */
export function kindsOf({ kinds, labels }: TapeIndex): readonly TurnKind[] {
  const known = new Map<string, TurnKind>()
  for (const { mark, count, first } of kinds) {
    const { server, method } = labels[mark >>> MARK_BITS] ?? NO_LABEL
    const kind = { trigger: kindIn(mark), server, method }
    const key = JSON.stringify(kind)
    const before = known.get(key) ?? { count: 0, first }
    known.set(key, { ...kind, count: before.count + count, first: before.first })
  }
  return [...known.values()]
}

function kindIn(mark: number): Outline['trigger'] {
  if ((mark & MARK.request) !== 0) return 'request'
  return (mark & MARK.notification) !== 0 ? 'notification' : 'none'
}

const NO_LABEL: Label = { server: '', method: '', name: undefined }
