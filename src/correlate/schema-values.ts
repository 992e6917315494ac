import type { RecordedTurns } from '../tape/turn-store.ts'
import type { JsonPath } from '../json/find.ts'
import { isObject, member } from '../protocol/message.ts'

/** What the tools on the tape say about their arguments. */
export class SchemaValues {
  readonly #schemas = new Map<string, unknown>()

  constructor(turns: RecordedTurns) {
    for (let place = 0; place < turns.size; place++) {
      if (turns.outline(place).method !== 'tools/list') continue
      const response = turns.turn(place)?.response
      if (response?.message.kind !== 'response' || !('result' in response.message.outcome)) continue
      const tools = member(response.message.outcome.result, 'tools')
      for (const tool of Array.isArray(tools) ? tools : []) this.#add(tool)
    }
  }

  /** Whether the tool's schema itself offers this value for an argument: an enum, a constant or a default. */
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
