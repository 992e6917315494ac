import type { Headers } from '../../transport/http1/exchange.ts'
import type { TurnStore } from '../../tape/turn-store.ts'
import { isObject, member, type Request } from '../../wire/message.ts'
import { recordedTools } from '../tool-schemas.ts'
import { decodedHeader, headerIn, mismatch } from './mirrored-header.ts'
import type { Refusal } from './refusal.ts'

/** An argument of a tool that the client repeats in a header. */
interface Mirrored {
  readonly header: string
  readonly path: readonly string[]
}

/** Which arguments of the recorded tools are repeated in headers, by what `tools/list` said on the tape. */
export class MirroredParams {
  readonly #byTool = new Map<string, readonly Mirrored[]>()

  constructor(turns: TurnStore) {
    for (const tool of recordedTools(turns)) this.#add(tool)
  }

  mismatchIn({ method, params }: Request, headers: Headers): Refusal | undefined {
    if (this.#byTool.size === 0 || method !== 'tools/call') return undefined
    const declared = this.#byTool.get(String(member(params, 'name'))) ?? []
    for (const each of declared) {
      const refusal = mismatchOf(each, valueAt(member(params, 'arguments'), each.path), headers)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  #add(tool: unknown): void {
    const mirrored = declaredIn(member(tool, 'inputSchema'), [])
    if (mirrored.length > 0) this.#byTool.set(String(member(tool, 'name')), mirrored)
  }
}

const DEEPEST = 64

function declaredIn(schema: unknown, path: readonly string[]): readonly Mirrored[] {
  const properties = member(schema, 'properties')
  if (!isObject(properties) || path.length > DEEPEST) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const header = member(property, 'x-mcp-header')
    const at = [...path, name]
    const own = typeof header === 'string' ? [{ header: `mcp-param-${header.toLowerCase()}`, path: at }] : []
    return [...own, ...declaredIn(property, at)]
  })
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => member(inner, name), value)
}

function mismatchOf({ header, path }: Mirrored, value: unknown, headers: Headers): Refusal | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const given = headerIn(headers, header)
  if (given === undefined) return mismatch(header, `it is missing, the body has arguments.${path.join('.')}`)
  const decoded = decodedHeader(given)
  if (decoded === undefined) return mismatch(header, 'its Base64 cannot be read')
  const isSame =
    typeof value === 'number' && DECIMAL.test(decoded) ? Number(decoded) === value : decoded === String(value)
  return isSame ? undefined : mismatch(header, `it says "${decoded}", the body "${String(value)}"`)
}

const DECIMAL = /^-?\d+(\.\d+)?$/
