import { isNumericText, detachedCopy } from '../values.ts'
import { consumerPieces, type ConsumerCandidate } from './consumer-candidates.ts'
import { isQuantityName } from '../names.ts'
import type { JsonPath } from '../../json/path.ts'
import { isObject, member } from '../../json/parse.ts'
import type { TurnStore } from '../../tape/turns.ts'

/** The frames in which the client first sent each value. A value that it sent before the server did is its own. */
export class ClientValues {
  readonly #first = new Map<string, number>()
  readonly #isKnown: (value: string) => boolean

  /** `isKnown` accepts values that the server sent as well. No others are kept. */
  constructor(isKnown: (value: string) => boolean) {
    this.#isKnown = isKnown
  }

  /** Has to be called in recorded order. */
  add(whole: ConsumerCandidate): void {
    if (this.#isKnown(whole.value)) this.#note(whole)
    for (const piece of consumerPieces(whole, this.#isKnown)) this.#note(piece)
  }

  /** Returns true if the client sent the value before this frame. */
  isSentBefore(use: ConsumerCandidate, frame: number): boolean {
    return (this.#first.get(clientValueKey(use)) ?? Infinity) < frame
  }

  #note(use: ConsumerCandidate): void {
    const key = clientValueKey(use)
    if (!this.#first.has(key)) this.#first.set(detachedCopy(key), use.consumer.frame)
  }
}

// Clients often send page numbers and limits. Such a number is the client's own only under the same name.
function clientValueKey({ value, names }: ConsumerCandidate): string {
  const isCounted = isNumericText(value) && (value.length < 4 || isQuantityName(names))
  return isCounted ? `${names.own.join(' ')}=${value}` : value
}

/** The values that the input schemas of the recorded tools offer. */
export class SchemaValues {
  readonly #schemas = new Map<string, unknown>()

  constructor(turns: TurnStore) {
    for (let place = 0; place < turns.size; place++) {
      if (turns.summary(place).method !== 'tools/list') continue
      const response = turns.at(place)?.response
      if (response?.message.kind !== 'response' || !('result' in response.message.outcome)) continue
      const tools = member(response.message.outcome.result, 'tools')
      for (const tool of Array.isArray(tools) ? tools : []) this.#add(tool)
    }
  }

  /** Returns true if the schema offers the value for an argument as an enum value, a constant or a default. */
  offers(tool: string | undefined, path: JsonPath, value: string): boolean {
    if (tool === undefined || path[1] !== 'arguments') return false
    const schema = path.slice(2).reduce(childSchema, this.#schemas.get(tool))
    return valuesOfferedBy(schema).some((one) => String(one) === value)
  }

  #add(tool: unknown): void {
    const name = member(tool, 'name')
    if (typeof name === 'string') this.#schemas.set(name, member(tool, 'inputSchema'))
  }
}

function childSchema(schema: unknown, step: string | number): unknown {
  return typeof step === 'string' ? member(member(schema, 'properties'), step) : member(schema, 'items')
}

const ALTERNATIVES = ['anyOf', 'oneOf', 'allOf']

function valuesOfferedBy(schema: unknown): readonly unknown[] {
  if (!isObject(schema)) return []
  const alternatives = ALTERNATIVES.flatMap((name) => listOf(member(schema, name)))
  return [
    ...listOf(member(schema, 'enum')),
    ...(Object.hasOwn(schema, 'const') ? [schema['const']] : []),
    ...(Object.hasOwn(schema, 'default') ? [schema['default']] : []),
    ...alternatives.flatMap((each) =>
      isObject(each) ? listOf(each['enum']).concat(each['const'] ?? []) : [],
    ),
  ]
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
