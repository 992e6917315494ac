import { base64Forms } from './base64.ts'
import { KEYWORD_FORMS } from './keyword-forms.ts'
import { DEFAULT_RULES } from './rules.ts'
import { NAME_KEYWORDS } from './secret-names.ts'

/** The keywords of the default rules, and the names that speak of secrets, that are long enough to be told within base64. */
export function allKeywords(): readonly string[] {
  const all = new Set([...DEFAULT_RULES.flatMap(({ keywords }) => keywords), ...NAME_KEYWORDS])
  return [...all].filter((text) => text.length > 2)
}

/** What base64 holds if the text behind it holds the keyword. */
export function formsOfKeyword(keyword: string): readonly string[] {
  return Object.hasOwn(KEYWORD_FORMS, keyword) ? KEYWORD_FORMS[keyword]! : base64Forms(keyword)
}
