import { isObject, member, type Request, type Response } from './message.ts'
import { isEnveloped, META, metaOf } from './methods.ts'

/** `legacy` opens with `initialize`; `modern` is stateless and carries an envelope in every request. */
export type Era = 'legacy' | 'modern'

export interface EraFound {
  readonly era: Era | undefined
  readonly version: string | undefined
}

export interface Exchange {
  readonly request: Request
  readonly response: Response | undefined
}

/** The era of a conversation, by the first exchange that proves one; an envelope alone proves nothing. */
export function eraOf(exchanges: Iterable<Exchange>): EraFound {
  let probeFailed = false
  for (const exchange of exchanges) {
    const found = eraProvedBy(exchange)
    if (found !== undefined) return found
    probeFailed ||= isProbe(exchange.request)
  }
  return eraUnproved(probeFailed)
}

/** What one exchange proves. */
export function eraProvedBy(exchange: Exchange): EraFound | undefined {
  return legacyProof(exchange) ?? modernProof(exchange)
}

/** Whether a request tries if the server is a modern one. */
export function isProbe({ method, params }: Request): boolean {
  return method === 'server/discover' && isEnveloped(params)
}

/** Where nothing proves an era, a probe that failed speaks for the legacy one. */
export function eraUnproved(probeFailed: boolean): EraFound {
  return { era: probeFailed ? 'legacy' : undefined, version: undefined }
}

function legacyProof({ request, response }: Exchange): EraFound | undefined {
  if (request.method !== 'initialize' || response === undefined || 'error' in response.outcome)
    return undefined
  return { era: 'legacy', version: text(member(response.outcome.result, 'protocolVersion')) }
}

function modernProof({ request, response }: Exchange): EraFound | undefined {
  if (response === undefined || !isEnveloped(request.params) || !isModernAnswer(response)) return undefined
  return { era: 'modern', version: text(metaOf(request.params, META.protocolVersion)) }
}

function isModernAnswer({ outcome }: Response): boolean {
  if ('error' in outcome) return MODERN_ERRORS.has(member(outcome.error, 'code'))
  return isObject(outcome.result) && Object.hasOwn(outcome.result, 'resultType')
}

// HeaderMismatch, MissingRequiredClientCapability, UnsupportedProtocolVersion.
const MODERN_ERRORS: ReadonlySet<unknown> = new Set([-32020, -32021, -32022])

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
