import { canonicalJson } from '../json/canonical.ts'
import { parseJson } from '../json/parse.ts'

/** A value that JSON.stringify can write: what a stranger has nested too deeply for that is given as its JSON text. */
export function toSerializable(value: unknown): unknown {
  return isNestedTooDeeply(value) ? canonicalJson(value) : value
}

/** The value of a JSON text, or the text where it is none, or nested too deeply. */
export function parseOrKeepText(text: string | undefined): unknown {
  if (text === undefined) return null
  const value = parseJson(text)
  return value === undefined || isNestedTooDeeply(value) ? text : value
}

const MAX_NESTING = 500

function isNestedTooDeeply(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_NESTING) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
