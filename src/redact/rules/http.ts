import { isDummyValue, isExampleValue } from '../value-checks.ts'
import { fromBase64, withoutPadding } from '../views.ts'
import type { RedactionRule } from './rule.ts'

/** Credentials in URLs and in HTTP headers that are quoted in a text. */
export const httpRules = (): readonly RedactionRule[] => [
  {
    name: 'url-password',
    service: 'passwords in URLs',
    keywords: ['://'],
    followedBy: 'userinfo',
    pattern: /:\/\/[^\s/?#"'<>@:\\]{0,200}:(?<secret>[^\s/?#"'<>@\\]{1,200})@/g,
    isSecret: (value) => !isDummyValue(value) && !isExampleValue(value),
    isLearned: true,
  },
  {
    name: 'url-token',
    service: 'user names in URLs that are tokens',
    keywords: ['://'],
    followedBy: 'userinfo',
    pattern: /:\/\/(?<secret>[^\s/?#"'<>@:\\]{16,200})@/g,
    isLearned: true,
  },
  {
    name: 'bearer',
    service: '`Bearer` credentials',
    keywords: ['bearer '],
    pattern: /\bbearer +(?<secret>(?=[\w.~+/-]*\d)[\w.~+/-]{12,}={0,2})/gi,
    isLearned: true,
  },
  {
    name: 'basic',
    service: '`Basic` credentials',
    keywords: ['basic '],
    pattern: /\bbasic +(?<secret>(?=[A-Za-z0-9+/]*[A-Z0-9])[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/])/gi,
    isSecret: isBasicCredentials,
    isLearned: true,
  },
  {
    name: 'cookie',
    service: 'cookies',
    keywords: ['cookie: '],
    pattern: /(?<!set-)\bcookie: +(?<secret>[\w.-]+=[^\r\n"'\\]{6,})/gi,
    isSecret: (value) => /\d/.test(value), // a look-ahead for the digit would search the whole line again for each `cookie:`
  },
  {
    name: 'set-cookie',
    service: 'cookies',
    keywords: ['set-cookie: '],
    pattern: /\bset-cookie: +[\w.-]+=(?<secret>(?=[^;\s"'\\]*\d)[^;\s"'\\]{6,})/gi,
    isLearned: true,
  },
]

/** A user, a colon and a password in base64, or at least not a word, as in "Basic authentication". */
function isBasicCredentials(value: string): boolean {
  const plain = new TextDecoder().decode(fromBase64(withoutPadding(value)))
  return plain.includes(':') || (/\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value))
}
