import { commandLineRules } from './command-lines.ts'
import { httpRules } from './http.ts'
import { privateKeyRules } from './private-key.ts'
import type { RedactionRule } from './rule.ts'
import { tokenRules } from './tokens.ts'

/**
 * The rules that are on by default. They are created on first use, because most recordings contain nothing that looks like a
 * secret and should not wait for them at the start.
 */
export function defaultRules(): readonly RedactionRule[] {
  return (cachedRules ??= [...tokenRules(), ...privateKeyRules(), ...httpRules(), ...commandLineRules()])
}

let cachedRules: readonly RedactionRule[] | undefined

/** Off by default: an address is not a secret, and many tools work with addresses. */
export const EMAIL_RULE: RedactionRule = {
  name: 'email',
  keywords: ['@'],
  pattern: /(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}(?![\w-])/g,
}

/** The prefixes of tokens, longest first. A placeholder keeps the prefix of its token. */
export function tokenPrefixes(): readonly string[] {
  cachedPrefixes ??= defaultRules()
    .flatMap(({ prefixes = [] }) => prefixes)
    .toSorted((a, b) => b.length - a.length)
  return cachedPrefixes
}

let cachedPrefixes: readonly string[] | undefined
