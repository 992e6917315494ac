import type { RedactionRule } from './rule.ts'

/** Tokens and keys of services. Most are known by their prefix. */
export const tokenRules = (): readonly RedactionRule[] => [
  tokenRule('github', ['github_pat_', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 20),
  tokenRule('gitlab', ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-'], 16, '[\\w.-]'),
  tokenRule('anthropic', ['sk-ant-'], 20),
  tokenRule('openai', ['sk-proj-', 'sk-svcacct-', 'sk-admin-'], 20),
  { name: 'openai-legacy', keywords: ['T3BlbkFJ'], pattern: /sk-\w{16,}T3BlbkFJ\w{16,}/g },
  {
    name: 'sk-key', // earlier keys of OpenAI, and of services with the same API
    keywords: ['sk-'],
    followedBy: 'long-word',
    pattern: /(?<![\w-])sk-(?=[A-Za-z]*\d)[A-Za-z0-9]{24,}(?![\w-])/g,
    prefixes: ['sk-'],
  },
  tokenRule('openrouter', ['sk-or-v1-'], 32),
  tokenRule('aws-access-key', ['AKIA', 'ASIA', 'ABIA', 'ACCA'], 16, '[A-Z0-9]'),
  tokenRule('google-api-key', ['AIza'], 35),
  tokenRule('google-oauth', ['ya29.'], 20),
  tokenRule('google-client-secret', ['GOCSPX-'], 20),
  tokenRule('slack', ['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxe-', 'xapp-', 'xoxe.xoxp-'], 10),
  {
    name: 'slack-webhook',
    keywords: ['hooks.slack.com'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[\w/+-]{20,})/g,
    isLearned: true,
  },
  tokenRule('stripe', ['sk_live_', 'rk_live_', 'sk_test_', 'rk_test_', 'whsec_'], 16, '\\w'),
  tokenRule('npm', ['npm_'], 36, '[A-Za-z0-9]'),
  tokenRule('pypi', ['pypi-AgE'], 40),
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
  tokenRule('hugging-face', ['hf_', 'api_org_'], 30, '[A-Za-z0-9]'),
  tokenRule('linear', ['lin_api_', 'lin_oauth_'], 32, '[A-Za-z0-9]'),
  tokenRule('notion', ['ntn_', 'secret_'], 40, '[A-Za-z0-9]'),
  tokenRule('digitalocean', ['dop_v1_', 'doo_v1_', 'dor_v1_'], 40, '[0-9a-f]'),
  tokenRule('databricks', ['dapi'], 32, '[0-9a-f-]'),
  tokenRule('shopify', ['shpat_', 'shpca_', 'shppa_', 'shpss_'], 32, '[0-9a-fA-F]'),
  tokenRule('grafana', ['glsa_', 'glc_eyJ'], 32, '[\\w=+/]'),
  tokenRule('atlassian', ['ATATT3', 'ATCTT3'], 40, '[\\w=-]'),
  tokenRule('doppler', ['dp.pt.', 'dp.st.', 'dp.ct.'], 40, '[\\w.]'),
  tokenRule('vault', ['hvs.', 'hvb.', 'hvr.'], 20),
  tokenRule('figma', ['figd_', 'figu_'], 20),
  tokenRule('supabase', ['sbp_'], 40, '[0-9a-f]'),
  tokenRule('replicate', ['r8_'], 36, '[A-Za-z0-9]'),
  tokenRule('groq', ['gsk_'], 40, '[A-Za-z0-9]'),
  tokenRule('xai', ['xai-'], 60, '[A-Za-z0-9]'),
  tokenRule('age', ['AGE-SECRET-KEY-1'], 50, '[A-Z0-9]'),
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
    // The look-ahead makes sure that two dots follow. Otherwise a long word would be searched for them from each `eyJ` in it.
    pattern:
      /(?<![\w-])(?=[\w-]+\.[\w-]{2,}\.)[\w-]*?(?<secret>eyJ[\w-]{8,}\.[\w-]{2,}\.[\w-]*(?:\.[\w-]*){0,2})/g,
  },
]

/** Matches a token that begins with one of the prefixes, followed by at least `least` of the characters. */
function tokenRule(
  name: string,
  prefixes: readonly string[],
  least: number,
  chars = '[\\w-]',
): RedactionRule {
  const any = prefixes.map((prefix) => prefix.replaceAll(/[.]/g, '\\$&')).join('|')
  const pattern = new RegExp(`(?:${any})${chars}{${least},}`, 'g')
  return { name, keywords: prefixes, pattern, prefixes }
}
