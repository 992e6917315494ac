import { requestKey } from '../match/key.ts'
import {
  calledIn,
  type Called,
  type KeyedPlaces,
  type Outline,
  type TurnKind,
  type TurnStore,
} from '../tape/turn-store.ts'
import type { Spoken, Step, Turn } from '../tape/turn.ts'
import { idKey, isId } from '../wire/id.ts'
import { membersOf } from '../wire/members.ts'
import { parseJson } from '../wire/parse-json.ts'
import { hashText } from './hash.ts'
import { buildKeyTable, firstUnder, nextUnder } from './key-table.ts'
import type { LineFile } from './line-file.ts'
import { answerOf, messageOf } from './line-messages.ts'
import { stepsOf, type StepRow } from './step-rows.ts'
import { MARK, MARK_BITS, STEP, type TapeIndex } from './tape-index.ts'
import { RecentTurns } from './recent-turns.ts'

/** The turns of a tape on disk. Its index may be anyone's work: nothing is taken from a line that is not what the index says. */
export class IndexedTurns implements TurnStore {
  readonly size: number
  readonly #index: TapeIndex
  readonly #file: LineFile
  readonly #recent = new RecentTurns()
  #kinds: readonly TurnKind[] | undefined

  constructor(index: TapeIndex, file: LineFile) {
    this.size = index.turns
    this.#index = index
    this.#file = file
  }

  outline(place: number): Outline {
    const mark = this.#index.mark[place] ?? 0
    const { server, method } = this.#index.labels[mark >>> MARK_BITS] ?? NO_LABEL
    return {
      trigger: kindIn(mark),
      server,
      method,
      frame: this.#index.frame[place] ?? 0,
      answered: (mark & MARK.answered) !== 0,
      enveloped: (mark & MARK.enveloped) !== 0,
      hasSteps: (mark & MARK.hasSteps) !== 0 && stepsOf(this.#index, place).some(isMoreThanAnAnswer),
    }
  }

  kinds(): readonly TurnKind[] {
    this.#kinds ??= kindsIn(this.#index)
    return this.#kinds
  }

  turn(place: number): Turn | undefined {
    const known = this.#recent.get(place)
    if (known !== undefined) return known
    const turn = this.#read(place)
    if (turn !== undefined) this.#recent.add(place, turn)
    return turn
  }

  trigger(place: number): Spoken | undefined {
    if (this.outline(place).trigger === 'none') return undefined
    return this.#trigger(place, stepsOf(this.#index, place))
  }

  called(place: number): Called | undefined {
    return calledIn({ trigger: this.trigger(place) })
  }

  keyedBy(keyOf: (called: Called) => string): KeyedPlaces {
    const hashes = keyOf === requestKey ? this.#index : this.#rehashed(keyOf)
    const table = keyOf === requestKey ? this.#index : buildKeyTable(hashes)
    return {
      isExact: false,
      first: (key) => firstUnder(table, hashes, hashText(key)),
      after: (place) => nextUnder(table, place),
    }
  }

  *[Symbol.iterator](): Generator<Turn> {
    for (let place = 0; place < this.size; place++) {
      const turn = this.turn(place)
      if (turn !== undefined) yield turn
    }
  }

  close(): void {
    this.#file.close()
  }

  /** Other keys than those in the index: every call of the client is read once. */
  #rehashed(keyOf: (called: Called) => string): Pick<TapeIndex, 'hashLow' | 'hashHigh' | 'mark'> {
    const hashLow = new Uint32Array(this.size)
    const hashHigh = new Uint32Array(this.size)
    for (let place = 0; place < this.size; place++) {
      const called = this.called(place)
      const { low, high } = called === undefined ? { low: 0, high: 0 } : hashText(keyOf(called))
      hashLow[place] = low
      hashHigh[place] = high
    }
    return { hashLow, hashHigh, mark: this.#index.mark }
  }

  #read(place: number): Turn | undefined {
    if (!Number.isInteger(place) || place < 0 || place >= this.size) return undefined
    const rows = stepsOf(this.#index, place)
    const isCalled = this.outline(place).trigger !== 'none'
    const trigger = isCalled ? this.#trigger(place, rows) : undefined
    if (isCalled && trigger === undefined) return undefined
    const steps = [this.#firstAnswer(place), ...rows.flatMap((row) => this.#step(row))]
    if (steps.some((step) => step === 'broken')) return undefined
    return turnOf(
      trigger,
      steps.filter((step) => step !== 'none' && step !== 'broken'),
      this.outline(place).answered,
    )
  }

  #trigger(place: number, rows: readonly StepRow[]): Spoken | undefined {
    const { trigger, server, method, frame } = this.outline(place)
    const line = this.#file.read(this.#index.triggerAt[place] ?? 0, this.#index.triggerLength[place] ?? 0)
    const item = rows.find(({ kind }) => kind === STEP.triggered)?.item
    const spoken = line === undefined ? undefined : messageOf(line, item)
    if (spoken?.dir !== 'c2s' || spoken.n !== frame || spoken.server !== server) return undefined
    return spoken.message.kind === trigger && spoken.message.method === method ? spoken : undefined
  }

  #firstAnswer(place: number): Step | 'none' | 'broken' {
    const length = this.#index.responseLength[place] ?? 0
    if (length === 0) return 'none'
    const line = this.#file.read(this.#index.responseAt[place] ?? 0, length)
    const message = line === undefined ? undefined : answerOf(line)
    return message === undefined ? 'broken' : { kind: 'respond', message }
  }

  #step({ kind, at, length, item, answer }: StepRow): readonly (Step | 'broken')[] {
    if (kind === STEP.triggered) return []
    const message = this.#message({ at, length, item })
    if (message?.dir !== 's2c') return ['broken']
    if (kind === STEP.notify) return [{ kind: 'notify', message }]
    if (kind === STEP.respond) return [{ kind: 'respond', message }]
    if (kind !== STEP.ask) return ['broken']
    const given = answer === undefined ? undefined : this.#message(answer)
    if (answer !== undefined && given === undefined) return ['broken']
    return [{ kind: 'ask', request: message, answer: given }]
  }

  #message({ at, length, item }: Pick<StepRow, 'at' | 'length' | 'item'>): Spoken | undefined {
    const line = this.#file.read(at, length)
    return line === undefined ? undefined : messageOf(line, item)
  }
}

function isMoreThanAnAnswer({ kind }: StepRow): boolean {
  return kind === STEP.notify || kind === STEP.ask
}

function kindsIn({ mark, labels }: TapeIndex): readonly TurnKind[] {
  const kinds = new Map<number, { count: number; readonly first: number }>()
  // Turns of one kind stand in long runs: only where one ends is its kind looked up.
  for (let place = 0; place < mark.length;) {
    const kind = (mark[place] ?? 0) & ~NOT_OF_THE_KIND
    const first = place
    do place++
    while (place < mark.length && ((mark[place] ?? 0) & ~NOT_OF_THE_KIND) === kind)
    const known = kinds.get(kind)
    if (known === undefined) kinds.set(kind, { count: place - first, first })
    else known.count += place - first
  }
  return Array.from(kinds, ([kind, counted]) => ({
    trigger: kindIn(kind),
    ...(labels[kind >>> MARK_BITS] ?? NO_LABEL),
    ...counted,
  }))
}

const NOT_OF_THE_KIND = MARK.enveloped | MARK.answered | MARK.hasSteps
const NO_LABEL = { server: '', method: '' }

function kindIn(mark: number): Outline['trigger'] {
  if ((mark & MARK.request) !== 0) return 'request'
  return (mark & MARK.notification) !== 0 ? 'notification' : 'none'
}

/** None when what the index calls an answer is none to this request. */
function turnOf(trigger: Spoken | undefined, steps: readonly Step[], answered: boolean): Turn | undefined {
  const responses = steps.flatMap((step) => (step.kind === 'respond' ? [step.message] : []))
  const [response] = responses
  if (responses.length > 1 || answered !== (response !== undefined)) return undefined
  if (response !== undefined && !isAnswerTo(response, trigger)) return undefined
  return { trigger, steps, response }
}

function isAnswerTo(response: Spoken, trigger: Spoken | undefined): boolean {
  if (trigger?.message.kind !== 'request' || response.dir !== 's2c') return false
  if (response.server !== trigger.server || response.conn !== trigger.conn) return false
  const id = response.id ?? membersOf(response.text).get('id')
  const live = id === undefined ? undefined : parseJson(response.text.slice(id.start, id.end))
  return isId(live) && idKey(live) === idKey(trigger.message.id)
}
