/** The beginning of a text, in whole words: half of a secret at its end could not be told for one. */
export function truncateAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const end = text.slice(0, most + 1).search(/\s\S*$/)
  return `${text.slice(0, Math.max(end, 0))}…`
}
