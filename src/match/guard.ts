import { isObject, member } from '../protocol/message.ts'

/** What the user was asked and what they answered (2026-07-28, MRTR): compared exactly, whatever else is not. */
export const CONSENT_PARAMS: readonly string[] = ['requestState', 'inputResponses']

/** The guarded members of a request's params, as one comparable value. */
export function consentParams(params: unknown): readonly unknown[] {
  return CONSENT_PARAMS.map((name) => member(params, name) ?? null)
}

/** Puts the guarded members back when a rule has taken away what held them. */
export function withConsentParams(rest: unknown, params: unknown): unknown {
  const kept = CONSENT_PARAMS.filter(
    (name) => member(params, name) !== undefined && member(rest, name) === undefined,
  )
  if (kept.length === 0) return rest
  return {
    ...(isObject(rest) ? rest : {}),
    ...Object.fromEntries(kept.map((name) => [name, member(params, name)])),
  }
}
