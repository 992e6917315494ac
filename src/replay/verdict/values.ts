import { createDiffer, type Differ, type DiffOptions } from '../../diff/diff.ts'
import type { Difference } from '../../diff/difference.ts'
import { formatPath, parsePath } from '../../wire/path.ts'
import type { Finding } from './finding.ts'
import type { Judging } from './judge.ts'
import type { Judged } from './judged.ts'
import { outcomeIn } from './outcome-text.ts'

export interface ValuesOptions {
  readonly judging: Judging
  /** A recorded text as the live server would have put it. */
  readonly live: (text: string) => string
}

/** Whether the answer holds the recorded values: names that the live server made up itself count as the recorded ones. */
export class ValuesJudge {
  readonly #kept: Differ
  readonly #free: Differ
  readonly #live: (text: string) => string

  constructor({ judging, live }: ValuesOptions) {
    const options = diffOptions(judging)
    this.#kept = createDiffer({ ...options, order: 'kept' })
    this.#free = createDiffer({ ...options, order: 'free' })
    this.#live = live
  }

  judge({ turn, end }: Judged): readonly Finding[] {
    const expected = turn.response === undefined ? undefined : outcomeIn(turn.response.text)
    const actual = end.kind === 'answered' ? outcomeIn(end.text) : undefined
    if (expected === undefined || actual === undefined) return []
    const differences = this.#unexplained(this.#kept.texts(expected, actual))
    if (differences.length === 0) return []
    const changed = this.#unexplained(this.#free.texts(expected, actual))
    return changed.length === 0 ? [orderFinding(differences)] : changed.map(asFinding)
  }

  #unexplained(differences: readonly Difference[]): readonly Difference[] {
    return differences.filter((difference) => !this.#isLiveName(difference))
  }

  #isLiveName({ kind, expected, actual }: Difference): boolean {
    if (kind !== 'changed' || typeof expected === 'object') return false
    return this.#live(String(expected)) === String(actual)
  }
}

function diffOptions({ ignore = [], unordered = [], numeric }: Judging): DiffOptions {
  return {
    ignore: ignore.map(parsePath),
    unordered: unordered.map(parsePath),
    ...(numeric !== undefined && { tolerance: numeric }),
  }
}

function asFinding(difference: Difference): Finding {
  const { path, kind, ...sides } = difference
  return {
    layer: 'values',
    level: 'error',
    message: WORDS[kind],
    path: formatPath(path),
    ...sides,
    difference,
  }
}

const WORDS: Readonly<Record<Difference['kind'], string>> = {
  added: 'is new',
  removed: 'is missing',
  changed: 'has another value',
  type: 'has another type',
}

function orderFinding(differences: readonly Difference[]): Finding {
  const at = differences[0]?.path.slice(0, -1) ?? []
  return {
    layer: 'order',
    level: 'error',
    message: 'the same items come in another order',
    path: formatPath(at),
  }
}
