import type { TurnStore, Turn } from '../../tape/turns.ts'
import { member, parseJson } from '../../json/parse.ts'

/** The input schemas of a server's tools, by what `tools/list` said: on the tape, and live. */
export class ToolSchemas {
  readonly #byTool = new Map<string, unknown>()

  constructor(turns: TurnStore) {
    for (const tool of recordedTools(turns)) this.#add(tool)
  }

  readonly of = (tool: string): unknown => this.#byTool.get(tool)

  /** Takes a message of the live server, which may list tools. */
  learn(text: string): void {
    if (!text.includes('"inputSchema"')) return
    for (const tool of toolsIn(member(parseJson(text), 'result'))) this.#add(tool)
  }

  #add(tool: unknown): void {
    this.#byTool.set(String(member(tool, 'name')), member(tool, 'inputSchema'))
  }
}

/** The tools of every recorded list. */
export function recordedTools(turns: TurnStore): readonly unknown[] {
  const places = Array.from({ length: turns.size }, (_, place) => place)
  return places
    .filter((place) => turns.summary(place).method === 'tools/list')
    .flatMap((place) => listedTools(turns.at(place)))
}

function listedTools(turn: Turn | undefined): readonly unknown[] {
  const response = turn?.response
  if (response?.message.kind !== 'response' || 'error' in response.message.outcome) return []
  return toolsIn(response.message.outcome.result)
}

function toolsIn(result: unknown): readonly unknown[] {
  const tools = member(result, 'tools')
  return Array.isArray(tools) ? tools : []
}
