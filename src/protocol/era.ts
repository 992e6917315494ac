import { isObject, member, type Request, type Response } from './message.ts'
import { hasModernEnvelope, META_KEYS, metaValue } from './methods.ts'

/** `legacy` opens with `initialize`; `modern` is stateless and carries an envelope in every request. */
export type Era = 'legacy' | 'modern'

export interface DetectedEra {
  readonly era: Era | undefined
  readonly version: string | undefined
}

export interface EraEvidence {
  readonly request: Request
  readonly response: Response | undefined
}

/** The era of a conversation, by the first exchange that proves one; an envelope alone proves nothing. */
export function detectEra(exchanges: Iterable<EraEvidence>): DetectedEra {
  let probeFailed = false
  for (const exchange of exchanges) {
    const found = eraProvenBy(exchange)
    if (found !== undefined) return found
    probeFailed ||= isDiscoverProbe(exchange.request)
  }
  return eraWithoutProof(probeFailed)
}

/** What one exchange proves. */
export function eraProvenBy(exchange: EraEvidence): DetectedEra | undefined {
  return legacyProof(exchange) ?? modernProof(exchange)
}

/** Whether a request tries if the server is a modern one. */
export function isDiscoverProbe({ method, params }: Request): boolean {
  return method === 'server/discover' && hasModernEnvelope(params)
}

/** Where nothing proves an era, a probe that failed speaks for the legacy one. */
export function eraWithoutProof(probeFailed: boolean): DetectedEra {
  return { era: probeFailed ? 'legacy' : undefined, version: undefined }
}

function legacyProof({ request, response }: EraEvidence): DetectedEra | undefined {
  if (request.method !== 'initialize' || response === undefined || 'error' in response.outcome)
    return undefined
  return { era: 'legacy', version: stringOrUndefined(member(response.outcome.result, 'protocolVersion')) }
}

function modernProof({ request, response }: EraEvidence): DetectedEra | undefined {
  if (response === undefined || !hasModernEnvelope(request.params) || !isModernResponse(response))
    return undefined
  return { era: 'modern', version: stringOrUndefined(metaValue(request.params, META_KEYS.protocolVersion)) }
}

function isModernResponse({ outcome }: Response): boolean {
  if ('error' in outcome) return MODERN_ERROR_CODES.has(member(outcome.error, 'code'))
  return isObject(outcome.result) && Object.hasOwn(outcome.result, 'resultType')
}

// HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion.
const MODERN_ERROR_CODES: ReadonlySet<unknown> = new Set([-32020, -32021, -32022])

function stringOrUndefined(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
