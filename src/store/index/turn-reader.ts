import type { RecordedMessage, TurnStep, Turn } from '../../tape/turn.ts'
import { idKey, isId } from '../../protocol/id.ts'
import { memberRanges } from '../../json/find.ts'
import { parseJson } from '../../json/parse.ts'
import { outlineFromIndex } from '../indexed-outlines.ts'
import type { TapeLineFile } from '../line-file.ts'
import { readResponseInLine, readMessageInLine } from '../line-messages.ts'
import { indexedStepsOf, type MessageLocation, type IndexedStep } from '../step-rows.ts'
import { STEP_KIND, type TapeIndex } from './tape-index.ts'

/** Reads turns from the lines where an index says that they stand; none where the lines do not hold what it says. */
export class TurnReader {
  readonly #index: TapeIndex
  readonly #file: TapeLineFile

  constructor(index: TapeIndex, file: TapeLineFile) {
    this.#index = index
    this.#file = file
  }

  turn(place: number): Turn | undefined {
    if (!Number.isInteger(place) || place < 0 || place >= this.#index.turns) return undefined
    const { trigger: kind, answered } = outlineFromIndex(this.#index, place)
    const trigger = this.trigger(place)
    if (kind !== 'none' && trigger === undefined) return undefined
    const rows = indexedStepsOf(this.#index, place)
    const steps = [this.#firstAnswer(place), ...rows.flatMap((row) => this.#step(row))]
    if (steps.some((step) => step === 'broken')) return undefined
    return assembleTurn(
      trigger,
      steps.filter((step) => step !== 'none' && step !== 'broken'),
      answered,
    )
  }

  /** What set the turn off, without what followed. */
  trigger(place: number): RecordedMessage | undefined {
    const { trigger, server, method, frame } = outlineFromIndex(this.#index, place)
    if (trigger === 'none') return undefined
    const item = indexedStepsOf(this.#index, place).find(({ kind }) => kind === STEP_KIND.triggered)?.item
    const at = this.#index.triggerAt.at(place)
    const spoken = this.#message({ at, length: this.#index.triggerLength.at(place), item })
    if (spoken?.dir !== 'c2s' || spoken.n !== frame || spoken.server !== server) return undefined
    return spoken.message.kind === trigger && spoken.message.method === method ? spoken : undefined
  }

  #firstAnswer(place: number): TurnStep | 'none' | 'broken' {
    const length = this.#index.responseLength.at(place)
    if (length === 0) return 'none'
    const line = this.#file.read(this.#index.responseAt.at(place), length)
    const message = line === undefined ? undefined : readResponseInLine(line)
    return message === undefined ? 'broken' : { kind: 'respond', message }
  }

  #step({ kind, at, length, item, answer }: IndexedStep): readonly (TurnStep | 'broken')[] {
    if (kind === STEP_KIND.triggered) return []
    const message = this.#message({ at, length, item })
    if (message?.dir !== 's2c') return ['broken']
    if (kind === STEP_KIND.notify) return [{ kind: 'notify', message }]
    if (kind === STEP_KIND.respond) return [{ kind: 'respond', message }]
    if (kind !== STEP_KIND.ask) return ['broken']
    const given = answer === undefined ? undefined : this.#message(answer)
    if (answer !== undefined && given === undefined) return ['broken']
    return [{ kind: 'ask', request: message, answer: given }]
  }

  #message({ at, length, item }: MessageLocation): RecordedMessage | undefined {
    const line = this.#file.read(at, length)
    return line === undefined ? undefined : readMessageInLine(line, item)
  }
}

/** None when what the index calls an answer is none to this request. */
function assembleTurn(
  trigger: RecordedMessage | undefined,
  steps: readonly TurnStep[],
  answered: boolean,
): Turn | undefined {
  const responses = steps.flatMap((step) => (step.kind === 'respond' ? [step.message] : []))
  const [response] = responses
  if (responses.length > 1 || answered !== (response !== undefined)) return undefined
  if (response !== undefined && !isAnswerTo(response, trigger)) return undefined
  return { trigger, steps, response }
}

function isAnswerTo(response: RecordedMessage, trigger: RecordedMessage | undefined): boolean {
  if (trigger?.message.kind !== 'request' || response.dir !== 's2c') return false
  if (response.server !== trigger.server || response.conn !== trigger.conn) return false
  const id = response.id ?? memberRanges(response.text).get('id')
  const live = id === undefined ? undefined : parseJson(response.text.slice(id.start, id.end))
  return isId(live) && idKey(live) === idKey(trigger.message.id)
}
