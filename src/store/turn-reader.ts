import type { Spoken, Step, Turn } from '../tape/turn.ts'
import { idKey, isId } from '../wire/id.ts'
import { membersOf } from '../wire/members.ts'
import { parseJson } from '../wire/parse-json.ts'
import { outlineIn } from './indexed-outlines.ts'
import type { LineFile } from './line-file.ts'
import { answerOf, messageOf } from './line-messages.ts'
import { stepsOf, type MessagePlace, type StepRow } from './step-rows.ts'
import { STEP, type TapeIndex } from './tape-index.ts'

/** Reads turns from the lines where an index says that they stand; none where the lines do not hold what it says. */
export class TurnReader {
  readonly #index: TapeIndex
  readonly #file: LineFile

  constructor(index: TapeIndex, file: LineFile) {
    this.#index = index
    this.#file = file
  }

  turn(place: number): Turn | undefined {
    if (!Number.isInteger(place) || place < 0 || place >= this.#index.turns) return undefined
    const { trigger: kind, answered } = outlineIn(this.#index, place)
    const trigger = this.trigger(place)
    if (kind !== 'none' && trigger === undefined) return undefined
    const rows = stepsOf(this.#index, place)
    const steps = [this.#firstAnswer(place), ...rows.flatMap((row) => this.#step(row))]
    if (steps.some((step) => step === 'broken')) return undefined
    return turnOf(
      trigger,
      steps.filter((step) => step !== 'none' && step !== 'broken'),
      answered,
    )
  }

  /** What set the turn off, without what followed. */
  trigger(place: number): Spoken | undefined {
    const { trigger, server, method, frame } = outlineIn(this.#index, place)
    if (trigger === 'none') return undefined
    const item = stepsOf(this.#index, place).find(({ kind }) => kind === STEP.triggered)?.item
    const at = this.#index.triggerAt.at(place)
    const spoken = this.#message({ at, length: this.#index.triggerLength.at(place), item })
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

  #message({ at, length, item }: MessagePlace): Spoken | undefined {
    const line = this.#file.read(at, length)
    return line === undefined ? undefined : messageOf(line, item)
  }
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
