import { longestCommonSubsequence } from './sequence-diff.ts'

/** What several texts have in common, word by word; `null` stands where they differ. */
export type TextTemplate = readonly (string | null)[]

/** The template of one text: itself. */
export function textTemplate(text: string): TextTemplate {
  return text.match(/\s+|\S+/g) ?? []
}

/** The template that another text fits too. */
export function widenTemplate(template: TextTemplate, text: string): TextTemplate {
  const words = textTemplate(text).map(String)
  const known = template.map((word) => word ?? VARYING)
  const wide: (string | null)[] = []
  let [row, column] = [0, 0]
  for (const common of [
    ...longestCommonSubsequence(known, words),
    { expected: known.length, actual: words.length },
  ]) {
    if (common.expected > row || common.actual > column) appendVarying(wide)
    const word = known[common.expected]
    if (word !== undefined) wide.push(word)
    row = common.expected + 1
    column = common.actual + 1
  }
  return wide
}

/** Whether a text has all that the template says, in its order, and something else only where the texts differed. */
export function fitsTemplate(template: TextTemplate, text: string): boolean {
  let at = 0
  let mayPass = false
  for (const word of template) {
    if (word === null) {
      mayPass = true
      continue
    }
    const found = mayPass ? text.indexOf(word, at) : at
    if (found < 0 || !text.startsWith(word, found)) return false
    at = found + word.length
    mayPass = false
  }
  return mayPass || at === text.length
}

// No word of a text, because it is made of two kinds of characters that are never in one word.
const VARYING = ' \0'

function appendVarying(template: (string | null)[]): void {
  if (template.at(-1) !== null) template.push(null)
}
