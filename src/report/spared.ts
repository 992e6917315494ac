import { canonicalJson } from '../wire/canonical.ts'
import { parseJson } from '../wire/parse-json.ts'

/** A value that JSON.stringify can write: what a stranger has nested too deeply for that is given as its JSON text. */
export function spared(value: unknown): unknown {
  return isDeep(value) ? canonicalJson(value) : value
}

/** The value of a JSON text, or the text where it is none, or nested too deeply. */
export function valueOf(text: string | undefined): unknown {
  if (text === undefined) return null
  const value = parseJson(text)
  return value === undefined || isDeep(value) ? text : value
}

const DEEPEST = 500

function isDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return false
}
