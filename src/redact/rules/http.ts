import type { RedactionRule } from './rule.ts'

/** Credentials in URLs and in HTTP headers that are quoted in a text. */
export const httpRules = (): readonly RedactionRule[] => [
  {
    name: 'url-password',
    keywords: ['://'],
    followedBy: 'userinfo',
    pattern: /:\/\/[^\s/?#"'<>@:\\]{0,200}:(?<secret>[^\s/?#"'<>@\\]{1,200})@/g,
    isLearned: true,
  },
  {
    name: 'url-token',
    keywords: ['://'],
    followedBy: 'userinfo',
    pattern: /:\/\/(?<secret>[^\s/?#"'<>@:\\]{16,200})@/g,
    isLearned: true,
  },
  {
    name: 'bearer',
    keywords: ['bearer '],
    pattern: /\bbearer +(?<secret>(?=[\w.~+/-]*\d)[\w.~+/-]{12,}={0,2})/gi,
    isLearned: true,
  },
  {
    name: 'basic',
    keywords: ['basic '],
    pattern: /\bbasic +(?<secret>(?=[A-Za-z0-9+/]*[A-Z0-9])[A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9+/])/gi,
    isLearned: true,
  },
  {
    name: 'cookie',
    keywords: ['cookie: '],
    pattern: /(?<!set-)\bcookie: +(?<secret>[\w.-]+=[^\r\n"'\\]{6,})/gi,
    isSecret: (value) => /\d/.test(value), // a look-ahead for the digit would search the whole line again for each `cookie:`
  },
  {
    name: 'set-cookie',
    keywords: ['set-cookie: '],
    pattern: /\bset-cookie: +[\w.-]+=(?<secret>(?=[^;\s"'\\]*\d)[^;\s"'\\]{6,})/gi,
    isLearned: true,
  },
]
