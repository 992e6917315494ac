import { isObject, member, type JsonObject } from '../../json/parse.ts'
import type { Turn } from '../../tape/turns.ts'
import { countHeader, type ExportFormat, type ExportedTape } from './export-format.ts'
import { defaultUrl } from './scripts.ts'

/** OpenAPI 3.1: an operation for each tool, as gateways that turn tools into HTTP operations have them. */
export const openapiExport: ExportFormat = {
  name: 'openapi',
  description: 'OpenAPI 3.1 with an operation for each tool, its schemas and recorded examples',
  extension: '.openapi.json',
  write: (tape, losses) => {
    countHeader(tape.header, losses, { server: true })
    losses.note('order and timing of messages')
    const tools = toolsOn(tape)
    const others = tape.turns.filter(
      ({ trigger }) => trigger?.message.kind === 'request' && trigger.message.method !== 'tools/call',
    )
    losses.count('requests other than tool calls', others.length)
    const url = defaultUrl(tape)
    const document = {
      openapi: '3.1.0',
      info: {
        title: tape.name,
        version: '1.0.0',
        description: `Tools on a tape that was recorded ${tape.header.started}.`,
      },
      servers: [{ url: new URL(url).origin }],
      paths: Object.fromEntries(
        [...tools].map(([name, tool]) => [
          `/tools/${encodeURIComponent(name)}`,
          { post: operation(name, tool) },
        ]),
      ),
    }
    return `${JSON.stringify(document, undefined, 2)}\n`
  },
}

interface RecordedTool {
  readonly listed: JsonObject | undefined
  readonly calls: Turn[]
}

function toolsOn({ turns }: ExportedTape): ReadonlyMap<string, RecordedTool> {
  const tools = new Map<string, RecordedTool>()
  for (const turn of turns) {
    const message = turn.trigger?.message
    if (message?.kind !== 'request') continue
    if (message.method === 'tools/list') {
      const listed = member(resultOf(turn), 'tools')
      for (const tool of Array.isArray(listed) ? listed : [])
        if (isObject(tool) && typeof tool['name'] === 'string')
          tools.set(tool['name'], { listed: tool, calls: tools.get(tool['name'])?.calls ?? [] })
    }
    const name = message.method === 'tools/call' ? member(message.params, 'name') : undefined
    if (typeof name !== 'string') continue
    const tool = tools.get(name) ?? { listed: undefined, calls: [] }
    tools.set(name, tool)
    tool.calls.push(turn)
  }
  return tools
}

function resultOf({ response }: Turn): unknown {
  const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
  return outcome !== undefined && 'result' in outcome ? outcome.result : undefined
}

function operation(name: string, { listed, calls }: RecordedTool): JsonObject {
  const { title, description, inputSchema, outputSchema, annotations } = listed ?? {}
  const results = calls
    .map((turn) => [turn, resultOf(turn)] as const)
    .filter(([, result]) => result !== undefined)
  const errors = calls.filter(
    ({ response }) => response?.message.kind === 'response' && 'error' in response.message.outcome,
  )
  return {
    operationId: name,
    ...(typeof title === 'string' && { summary: title }),
    ...(typeof description === 'string' && { description }),
    ...(isObject(annotations) && { 'x-mcp-annotations': annotations }),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: isObject(inputSchema) ? inputSchema : { type: 'object' },
          ...examples(calls.map((turn) => [turn, member(paramsOf(turn), 'arguments') ?? {}])),
        },
      },
    },
    responses: {
      200: {
        description: 'The result of the tool',
        content: { 'application/json': { schema: resultSchema(outputSchema), ...examples(results) } },
      },
      ...(errors.length > 0 && {
        default: {
          description: 'A JSON-RPC error',
          content: {
            'application/json': {
              schema: { type: 'object' },
              ...examples(errors.map((turn) => [turn, errorOf(turn)])),
            },
          },
        },
      }),
    },
  }
}

function paramsOf({ trigger }: Turn): unknown {
  return trigger?.message.kind === 'request' ? trigger.message.params : undefined
}

function errorOf({ response }: Turn): unknown {
  const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
  return outcome !== undefined && 'error' in outcome ? outcome.error : undefined
}

function resultSchema(outputSchema: unknown): JsonObject {
  return {
    type: 'object',
    properties: {
      content: { type: 'array', items: { type: 'object' } },
      isError: { type: 'boolean' },
      ...(isObject(outputSchema) && { structuredContent: outputSchema }),
    },
  }
}

/** Examples have the numbers of the exchanges that they were recorded in. */
function examples(values: readonly (readonly [Turn, unknown])[]): JsonObject {
  if (values.length === 0) return {}
  const shown = values.slice(0, MAX_EXAMPLES)
  return {
    examples: Object.fromEntries(
      shown.map(([{ exchange }, value]) => [`exchange-${exchange ?? 0}`, { value }]),
    ),
  }
}

const MAX_EXAMPLES = 20
