import { base64Forms } from './base64.ts'
import { DEFAULT_RULES } from './rules.ts'
import { NAME_KEYWORDS } from './secret-names.ts'

/** How the keywords of the default rules, and the names that speak of secrets, look within base64, where they are long enough to be told. */
export function defaultForms(): readonly string[] {
  const keywords = [...DEFAULT_RULES.flatMap((rule) => rule.keywords), ...NAME_KEYWORDS]
  return [...new Set(keywords.filter((text) => text.length > 2).flatMap(base64Forms))]
}
