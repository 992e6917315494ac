import { canonicalJson } from '../json/canonical.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import { calledTool } from '../protocol/message.ts'
import { clientCallOf, type TurnStore } from '../tape/turns.ts'
import type { RecordedValue } from './schema-changes.ts'
import { resultOfTurn } from './surface.ts'

/** What was recorded with a tool. */
export interface ToolRecords {
  /** How often the tool was called, and how often it failed. */
  readonly calls: number
  readonly errors: number
  /** Different arguments, and different structured results, with their counts. Long ones and all beyond a number are left out. */
  readonly arguments: readonly RecordedValue[]
  readonly results: readonly RecordedValue[]
  /** The values of results: structured content, or else the text, parsed if it is JSON. */
  readonly outputs: readonly unknown[]
}

const MOST_DISTINCT = 50
const MOST_OUTPUTS = 500
const LONGEST_VALUE = 8_000

/** Collects the calls of each tool of a server, by the name of the tool. */
export function recordedTools(turns: TurnStore, server: string): ReadonlyMap<string, ToolRecords> {
  const tools = new Map<string, ToolCollector>()
  for (let index = 0; index < turns.size; index++) {
    const summary = turns.summary(index)
    if (summary.method !== 'tools/call' || summary.server !== server) continue
    const turn = turns.at(index)
    const call = clientCallOf(turn?.trigger)
    const name = call && calledTool(call)
    if (turn === undefined || name === undefined) continue
    const collector = tools.get(name) ?? new ToolCollector()
    tools.set(name, collector)
    collector.add(member(call?.params, 'arguments') ?? {}, resultOfTurn(turn))
  }
  return new Map(Array.from(tools, ([name, collector]) => [name, collector.records()]))
}

class ToolCollector {
  readonly #arguments = new Map<string, { value: unknown; times: number }>()
  readonly #results = new Map<string, { value: unknown; times: number }>()
  readonly #outputs: unknown[] = []
  #calls = 0
  #errors = 0

  add(values: unknown, result: unknown): void {
    this.#calls++
    const isError = result === undefined || member(result, 'isError') === true
    if (isError) this.#errors++
    // A call that was rejected proves nothing about which calls are valid.
    else count(this.#arguments, values)
    if (isError) return
    const structured = member(result, 'structuredContent')
    if (structured !== undefined) count(this.#results, structured)
    const output = structured ?? textOutput(result)
    if (output !== undefined && this.#outputs.length < MOST_OUTPUTS) this.#outputs.push(output)
  }

  records(): ToolRecords {
    return {
      calls: this.#calls,
      errors: this.#errors,
      arguments: [...this.#arguments.values()],
      results: [...this.#results.values()],
      outputs: this.#outputs,
    }
  }
}

function count(values: Map<string, { value: unknown; times: number }>, value: unknown): void {
  const key = canonicalJson(value)
  const known = values.get(key)
  if (known !== undefined) known.times++
  else if (values.size < MOST_DISTINCT && key.length <= LONGEST_VALUE) values.set(key, { value, times: 1 })
}

/** The JSON in the first text of a result, if it is an object or a list. */
function textOutput(result: unknown): unknown {
  const content = member(result, 'content')
  const first: unknown = Array.isArray(content)
    ? content.find((block) => member(block, 'type') === 'text')
    : undefined
  const text = member(first, 'text')
  const parsed = typeof text === 'string' ? parseJson(text) : undefined
  return isObject(parsed) || Array.isArray(parsed) ? parsed : undefined
}
