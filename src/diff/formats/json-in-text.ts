import { parseExactJson } from '../../json/exact-number.ts'
import { endOfValue } from '../../json/scan.ts'
import { LONGEST_PARSED, type TextFormat } from './format.ts'

/** A text with JSON objects or lists in it, for example after `Result:` or in a fenced block. `json` has them, and `text` everything around them. */
export const jsonInText: TextFormat = {
  name: 'text with JSON',
  parse: parseParts,
  // A text that lost its JSON has none, which is a missing item.
  parseLenient: (text) => parseParts(text) ?? { json: [], text },
  ignoresLayout: true,
}

function parseParts(text: string): unknown {
  if (text.length > LONGEST_PARSED || !START.test(text)) return undefined
  const json: unknown[] = []
  const around: string[] = []
  let [end, failures] = [0, 0]
  for (const { index } of text.matchAll(STARTS)) {
    if (index < end) continue
    const close = endOfValue(text, index)
    const value = parseExactJson(text.slice(index, close))
    if (value === undefined) {
      // Each attempt may read the rest of the text.
      if (++failures > MOST_FAILURES) return undefined
      continue
    }
    around.push(text.slice(end, index), JSON_MARK)
    json.push(value)
    end = close
  }
  return json.length === 0 ? undefined : { json, text: `${around.join('')}${text.slice(end)}` }
}

const JSON_MARK = '(JSON)'
const MOST_FAILURES = 20

/** An object with a member, a list of objects or texts, or any list in a fenced block. `[1]` and `{name}` in prose are not JSON. */
const START_SOURCE = /\{\s{0,100}"|\[\s{0,100}[{"]|(?<=```(?:json)?\s{1,3})\[/.source
const START = new RegExp(START_SOURCE)
const STARTS = new RegExp(START_SOURCE, 'g')
