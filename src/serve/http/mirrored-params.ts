import type { HeaderRecord } from '../../http/server/served-exchange.ts'
import type { TurnStore } from '../../tape/turn-store.ts'
import { isObject, member, type Request } from '../../protocol/message.ts'
import { recordedTools } from '../player/tool-schemas.ts'
import { decodeHeaderValue, requestHeader, headerMismatch } from './mirrored-header.ts'
import type { HttpErrorResponse } from './refusal.ts'

/** An argument of a tool that the client repeats in a header. */
interface MirroredParam {
  readonly header: string
  readonly path: readonly string[]
}

/** Which arguments of the recorded tools are repeated in headers, by what `tools/list` said on the tape. */
export class MirroredParams {
  readonly #byTool = new Map<string, readonly MirroredParam[]>()

  constructor(turns: TurnStore) {
    for (const tool of recordedTools(turns)) this.#add(tool)
  }

  findMismatch({ method, params }: Request, headers: HeaderRecord): HttpErrorResponse | undefined {
    if (this.#byTool.size === 0 || method !== 'tools/call') return undefined
    const declared = this.#byTool.get(String(member(params, 'name'))) ?? []
    for (const each of declared) {
      const refusal = paramMismatch(each, argumentAt(member(params, 'arguments'), each.path), headers)
      if (refusal !== undefined) return refusal
    }
    return undefined
  }

  #add(tool: unknown): void {
    const mirrored = declaredParams(member(tool, 'inputSchema'), [])
    if (mirrored.length > 0) this.#byTool.set(String(member(tool, 'name')), mirrored)
  }
}

const MAX_DEPTH = 64

function declaredParams(schema: unknown, path: readonly string[]): readonly MirroredParam[] {
  const properties = member(schema, 'properties')
  if (!isObject(properties) || path.length > MAX_DEPTH) return []
  return Object.entries(properties).flatMap(([name, property]) => {
    const header = member(property, 'x-mcp-header')
    const at = [...path, name]
    const own = typeof header === 'string' ? [{ header: `mcp-param-${header.toLowerCase()}`, path: at }] : []
    return [...own, ...declaredParams(property, at)]
  })
}

function argumentAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => member(inner, name), value)
}

function paramMismatch(
  { header, path }: MirroredParam,
  value: unknown,
  headers: HeaderRecord,
): HttpErrorResponse | undefined {
  if (!['string', 'number', 'boolean'].includes(typeof value)) return undefined
  const given = requestHeader(headers, header)
  if (given === undefined)
    return headerMismatch(header, `it is missing, the body has arguments.${path.join('.')}`)
  const decoded = decodeHeaderValue(given)
  if (decoded === undefined) return headerMismatch(header, 'its Base64 cannot be read')
  const isSame =
    typeof value === 'number' && DECIMAL.test(decoded) ? Number(decoded) === value : decoded === String(value)
  return isSame ? undefined : headerMismatch(header, `it says "${decoded}", the body "${String(value)}"`)
}

const DECIMAL = /^-?\d+(\.\d+)?$/
