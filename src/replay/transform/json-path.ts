import { parsePath, type Path } from '../../wire/path.ts'

/** Reads `$.arguments.q` and `$["a b"][0]`, where `$` is the params of a message; `arguments.q` is the same. */
export function parseJsonPath(text: string): Path {
  if (text === '$') return []
  const path = text.startsWith('$') ? text.slice(text.startsWith('$.') ? 2 : 1) : text
  return parsePath(path)
}
