import { requestKey } from '../match/key.ts'
import {
  calledIn,
  type Called,
  type Glance,
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
import { JsonHash } from './json-hash.ts'
import { buildKeyTable, firstUnder, heldTable, nextUnder } from './key-table.ts'
import type { LineFile } from './line-file.ts'
import { answerOf, messageOf } from './line-messages.ts'
import { HeldColumn } from './number-column.ts'
import { stepsOf, type StepRow } from './step-rows.ts'
import { MARK, MARK_BITS, STEP, type Label, type TapeIndex } from './tape-index.ts'
import { bitsIn, mostShared } from './most-shared.ts'
import { RecentTurns } from './recent-turns.ts'

/** The turns of a tape on disk. Its index may be anyone's work: nothing is taken from a line that is not what the index says. */
export class IndexedTurns implements TurnStore {
  readonly size: number
  readonly #index: TapeIndex
  readonly #file: LineFile
  readonly #recent = new RecentTurns()
  readonly #hash = new JsonHash()
  #kinds: readonly TurnKind[] | undefined

  constructor(index: TapeIndex, file: LineFile) {
    this.size = index.turns
    this.#index = index
    this.#file = file
  }

  outline(place: number): Outline {
    const mark = this.#index.mark.at(place)
    const { server, method, name } = this.#index.labels[mark >>> MARK_BITS] ?? NO_LABEL
    return {
      trigger: kindIn(mark),
      server,
      method,
      frame: this.#index.frame.at(place),
      answered: (mark & MARK.answered) !== 0,
      enveloped: (mark & MARK.enveloped) !== 0,
      hasSteps: this.#rows(place).some(isMoreThanAnAnswer),
      name,
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
    return this.#trigger(place, this.#rows(place))
  }

  called(place: number): Called | undefined {
    return calledIn({ trigger: this.trigger(place) })
  }

  mostAlike(key: string, places: readonly number[], most: number): readonly number[] {
    this.#hash.ofCanonical(key)
    const { sketch } = this.#hash
    return mostShared(places, (place) => bitsIn(sketch & this.#index.sketch.at(place)), most)
  }

  glance(place: number, text: string): Glance | undefined {
    const length = this.#index.responseLength.at(place)
    if (length === 0) return this.#longGlance(place, text)
    const line = this.#file.read(this.#index.responseAt.at(place), length)
    return line === undefined ? undefined : { length, mayHold: line.includes(text) }
  }

  keyedBy(keyOf: (called: Called) => string): KeyedPlaces {
    const hashes = keyOf === requestKey ? this.#index : this.#rehashed(keyOf)
    const table = keyOf === requestKey ? this.#index : heldTable(buildKeyTable(hashes))
    return {
      isExact: false,
      first: (key) =>
        firstUnder(table, hashes, keyOf === requestKey ? this.#hash.ofCanonical(key) : hashText(key)),
      after: (place) => nextUnder(table, place),
    }
  }

  *[Symbol.iterator](): Generator<Turn> {
    for (let place = 0; place < this.size; place++) {
      const turn = this.turn(place)
      if (turn !== undefined) yield turn
    }
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
    return { hashLow: new HeldColumn(hashLow), hashHigh: new HeldColumn(hashHigh), mark: this.#index.mark }
  }

  /** Of an answer that came after other steps. */
  #longGlance(place: number, text: string): Glance | undefined {
    const said = this.turn(place)?.response?.text
    return said === undefined ? undefined : { length: said.length, mayHold: said.includes(text) }
  }

  #read(place: number): Turn | undefined {
    if (!Number.isInteger(place) || place < 0 || place >= this.size) return undefined
    const rows = this.#rows(place)
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

  #rows(place: number): readonly StepRow[] {
    return (this.#index.mark.at(place) & MARK.hasSteps) === 0 ? [] : stepsOf(this.#index, place)
  }

  #trigger(place: number, rows: readonly StepRow[]): Spoken | undefined {
    const { trigger, server, method, frame } = this.outline(place)
    const line = this.#file.read(this.#index.triggerAt.at(place), this.#index.triggerLength.at(place))
    const item = rows.find(({ kind }) => kind === STEP.triggered)?.item
    const spoken = line === undefined ? undefined : messageOf(line, item)
    if (spoken?.dir !== 'c2s' || spoken.n !== frame || spoken.server !== server) return undefined
    return spoken.message.kind === trigger && spoken.message.method === method ? spoken : undefined
  }

  #firstAnswer(place: number): Step | 'none' | 'broken' {
    const length = this.#index.responseLength.at(place)
    if (length === 0) return 'none'
    const line = this.#file.read(this.#index.responseAt.at(place), length)
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

const NO_LABEL: Label = { server: '', method: '', name: undefined }

function isMoreThanAnAnswer({ kind }: StepRow): boolean {
  return kind === STEP.notify || kind === STEP.ask
}

/** Those of one method are one kind, whatever they name. */
function kindsIn({ kinds, labels }: TapeIndex): readonly TurnKind[] {
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
