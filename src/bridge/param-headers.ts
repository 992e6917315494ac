import { isObject, member, type JsonObject, type Request } from '../protocol/message.ts'
import { encodeHeaderValue } from './header-value.ts'

/** An argument of a tool that is repeated in a header. */
interface MirroredParam {
  readonly header: string
  readonly path: readonly string[]
}

const MAX_SCHEMA_DEPTH = 32

/**
 * Which arguments of which tools go into headers too: those that a tool's schema marks with `x-mcp-header`. Learnt from the
 * answers to `tools/list` that pass by.
 */
export class ToolParamHeaders {
  readonly #tools = new Map<string, readonly MirroredParam[]>()

  learn(result: unknown): void {
    const tools = member(result, 'tools')
    for (const tool of Array.isArray(tools) ? (tools as readonly unknown[]) : []) {
      const name = member(tool, 'name')
      if (typeof name === 'string') this.#tools.set(name, findMirroredParams(member(tool, 'inputSchema'), []))
    }
  }

  headersFor({ method, params }: Request): readonly string[] {
    const name = member(params, 'name')
    if (method !== 'tools/call' || typeof name !== 'string') return []
    return (this.#tools.get(name) ?? []).flatMap(({ header, path }) => {
      const value = path.reduce(member, member(params, 'arguments'))
      return isScalar(value) ? [`Mcp-Param-${header}`, encodeHeaderValue(String(value))] : []
    })
  }
}

function findMirroredParams(schema: unknown, path: readonly string[]): readonly MirroredParam[] {
  const properties = member(schema, 'properties')
  if (!isObject(properties) || path.length > MAX_SCHEMA_DEPTH) return []
  return Object.entries(properties).flatMap(([key, value]) =>
    isObject(value) ? mirroredParamsAt(value, [...path, key]) : [],
  )
}

function mirroredParamsAt(schema: JsonObject, path: readonly string[]): readonly MirroredParam[] {
  const header = member(schema, 'x-mcp-header')
  const isName = typeof header === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header)
  return [...(isName ? [{ header, path }] : []), ...findMirroredParams(schema, path)]
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)
}
