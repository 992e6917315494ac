import { ReelayError } from '../../errors.ts'
import { parsePath, type PathPattern } from '../../json/path.ts'

/** Reads `$.arguments.q` and `$["a b"][0]`, where `$` is the params of a message; `arguments.q` is the same. */
export function parseJsonPath(text: string): PathPattern {
  if (text === '$') return []
  const path = text.startsWith('$') ? text.slice(text.startsWith('$.') ? 2 : 1) : text
  try {
    return parsePath(path)
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    throw new ReelayError(error.code, error.message, { hint: JSON_PATH_HINT, cause: error })
  }
}

const JSON_PATH_HINT =
  'write it like $.arguments.limit, $.arguments.items[0].id, $.arguments.items[*].id or $.arguments["a.b"]; $ is the params, or the result of setResult'
