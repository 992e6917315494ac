import type { Rule } from './rule.ts'
import { commandLineRules } from './command-lines.ts'
import { isLongWord, isUserinfo } from './surroundings.ts'

/** The name of this set of rules, as tapes tell it. It changes when a value that was replaced before would now stay, or the other way round. */
export const RULES_NAME = 'default-2'

/** A token that begins with one of the prefixes, followed by at least so many characters of `[A-Za-z0-9_-]`. */
function token(name: string, prefixes: readonly string[], least: number, chars = '[\\w-]'): Rule {
  const any = prefixes.map((prefix) => prefix.replaceAll(/[.]/g, '\\$&')).join('|')
  const pattern = new RegExp(`(?:${any})${chars}{${least},}`, 'g')
  return { name, keywords: prefixes, pattern, prefixes }
}

const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g

/** Made when they are first needed: most recordings meet nothing that looks like a secret, and every one starts without waiting for them. */
export function defaultRules(): readonly Rule[] {
  return (made ??= makeRules())
}

let made: readonly Rule[] | undefined

const makeRules = (): readonly Rule[] => [
  token('github', ['github_pat_', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 20),
  token('gitlab', ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-'], 16, '[\\w.-]'),
  token('anthropic', ['sk-ant-'], 20),
  token('openai', ['sk-proj-', 'sk-svcacct-', 'sk-admin-'], 20),
  { name: 'openai-legacy', keywords: ['T3BlbkFJ'], pattern: /sk-\w{16,}T3BlbkFJ\w{16,}/g },
  {
    name: 'sk-key', // of OpenAI in earlier years, and of those who speak its language
    keywords: ['sk-'],
    follow: isLongWord,
    pattern: /(?<![\w-])sk-(?=[A-Za-z]*\d)[A-Za-z0-9]{24,}(?![\w-])/g,
    prefixes: ['sk-'],
  },
  token('openrouter', ['sk-or-v1-'], 32),
  token('aws-access-key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], 16, '[A-Z0-9]'),
  token('google-api-key', ['AIza'], 35),
  token('google-oauth', ['ya29.'], 20),
  token('google-client-secret', ['GOCSPX-'], 20),
  token('slack', ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xapp-', 'xoxe.xoxp-'], 10),
  {
    name: 'slack-webhook',
    keywords: ['hooks.slack.com'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[\w/+-]{20,})/g,
    isLearned: true,
  },
  token('stripe', ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'whsec_'], 16, '\\w'),
  token('npm', ['npm_'], 36, '[A-Za-z0-9]'),
  token('pypi', ['pypi-AgE'], 40),
  {
    name: 'sendgrid',
    keywords: ['SG.'],
    pattern: /SG\.[\w-]{16,}\.[\w-]{16,}/g,
    prefixes: ['SG.'],
  },
  { name: 'twilio', keywords: ['twilio'], pattern: /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/gi },
  {
    name: 'telegram',
    keywords: [':AA'],
    pattern: /(?<!\d)\d{8,10}:(?<secret>AA[\w-]{32,34})(?![\w-])/g,
  },
  token('hugging-face', ['hf_', 'api_org_'], 30, '[A-Za-z0-9]'),
  token('linear', ['lin_api_', 'lin_oauth_'], 32, '[A-Za-z0-9]'),
  token('notion', ['ntn_', 'secret_'], 40, '[A-Za-z0-9]'),
  token('digitalocean', ['dop_v1_', 'doo_v1_', 'dor_v1_'], 40, '[0-9a-f]'),
  token('databricks', ['dapi'], 32, '[0-9a-f-]'),
  token('shopify', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], 32, '[0-9a-fA-F]'),
  token('grafana', ['glsa_', 'glc_eyJ'], 32, '[\\w=+/]'),
  token('atlassian', ['ATATT3', 'ATCTT3'], 40, '[\\w=-]'),
  token('doppler', ['dp.pt.', 'dp.st.', 'dp.ct.'], 40, '[\\w.]'),
  token('vault', ['hvs.', 'hvb.', 'hvr.'], 20),
  token('figma', ['figd_', 'figu_'], 20),
  token('supabase', ['sbp_'], 40, '[0-9a-f]'),
  token('replicate', ['r8_'], 36, '[A-Za-z0-9]'),
  token('groq', ['gsk_'], 40, '[A-Za-z0-9]'),
  token('xai', ['xai-'], 60, '[A-Za-z0-9]'),
  token('age', ['AGE-SECRET-KEY-1'], 50, '[A-Z0-9]'),
  {
    name: 'azure-client-secret',
    keywords: Array.from({ length: 10 }, (_, digit) => `${digit}Q~`),
    pattern: /(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])/g,
  },
  {
    name: 'azure-account-key',
    keywords: ['AccountKey=', 'SharedAccessKey='],
    pattern: /(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{40,}={0,2})/g,
    isLearned: true,
  },
  {
    name: 'jwt',
    // {"alg, {"typ, {"kid, {"cty, {"enc, {"jku, {"x5, {"b64, {"zip
    keywords: ['eyJhb', 'eyJ0e', 'eyJra', 'eyJjd', 'eyJlb', 'eyJqa', 'eyJ4N', 'eyJiN', 'eyJ6a'],
    pattern: /eyJ[\w-]{8,}\.[\w-]{2,}\.[\w-]*(?:\.[\w-]*){0,2}(?![\w-])/g,
  },
  {
    name: 'private-key',
    keywords: ['-----BEGIN'],
    pattern: PRIVATE_KEY,
    isSecret: (value) => /^-----BEGIN [^-]*-----[\s\S]*?[A-Za-z0-9+/]{8}/.test(value), // its first line alone is none
  },
  {
    name: 'url-password',
    keywords: ['://'],
    follow: isUserinfo,
    pattern: /:\/\/[^\s/?#"'<>@:\\]{0,200}:(?<secret>[^\s/?#"'<>@\\]{1,200})@/g,
    isLearned: true,
  },
  {
    name: 'url-token',
    keywords: ['://'],
    follow: isUserinfo,
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
    pattern: /(?<!set-)\bcookie: +(?<secret>(?=[^\r\n"'\\]*\d)[\w.-]+=[^\r\n"'\\]{6,})/gi,
  },
  {
    name: 'set-cookie',
    keywords: ['set-cookie: '],
    pattern: /\bset-cookie: +[\w.-]+=(?<secret>(?=[^;\s"'\\]*\d)[^;\s"'\\]{6,})/gi,
    isLearned: true,
  },
  ...commandLineRules(),
]

/** Only when asked for: an address is no secret, and much that people do is about addresses. */
export const EMAIL_RULE: Rule = {
  name: 'email',
  keywords: ['@'],
  pattern: /(?<![\w.%+-])[\w.%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}(?![\w-])/g,
}

/** What stand-ins of tokens begin with, the long ones first. */
export function tokenPrefixes(): readonly string[] {
  known ??= defaultRules()
    .flatMap(({ prefixes = [] }) => prefixes)
    .toSorted((a, b) => b.length - a.length)
  return known
}

let known: readonly string[] | undefined
