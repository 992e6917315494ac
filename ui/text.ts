/** `12.3 ms`, `4.56 s`, `3 min 2 s`. */
export function durationText(milliseconds: number): string {
  if (milliseconds <= 0) return '0'
  if (milliseconds < 1) return `${Math.round(milliseconds * 1000)} µs`
  if (milliseconds < 1000) return `${trimmed(milliseconds)} ms`
  const seconds = milliseconds / 1000
  if (seconds < 60) return `${trimmed(seconds)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(3)))
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Shows characters that reorder or hide text as their code points. Line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replaceAll(INVISIBLE, (char) =>
    char === '\n' || char === '\t' ? char : `\\u{${char.codePointAt(0)?.toString(16)}}`,
  )
}
