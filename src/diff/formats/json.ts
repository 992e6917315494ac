import { parseExactJson } from '../../json/exact-number.ts'
import type { TextFormat } from './format.ts'

/** A JSON object or array. A scalar is treated as prose, because `12` and `true` are also words. */
export const json: TextFormat = {
  name: 'JSON',
  parse: (text) => (/^\s*[{[]/.test(text) ? parseExactJson(text) : undefined),
  ignoresLayout: true,
  isDistinctive: true,
}
