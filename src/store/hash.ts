/** 64 bits that stand for a text. Whoever finds something by them compares the text itself, too. */
export interface Hash64 {
  readonly low: number
  readonly high: number
}

/** Two lanes of multiply and rotate, mixed at the end: no call into another library for a text of a few hundred characters. */
export function hashText(text: string): Hash64 {
  let low = 0x9e3779b9 ^ text.length
  let high = 0x85ebca6b
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    low = Math.imul(rotateBits(low ^ code), 0x01000193)
    high = Math.imul(rotateBits(high + code), 0xc2b2ae35)
  }
  return { low: mixBits(low ^ high), high: mixBits(high + Math.imul(low, 5)) }
}

export function rotateBits(bits: number): number {
  return (bits << 13) | (bits >>> 19)
}

export function mixBits(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x7feb352d)
  const twice = Math.imul(once ^ (once >>> 15), 0x846ca68b)
  return (twice ^ (twice >>> 16)) >>> 0
}
