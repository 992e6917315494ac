import { escapeControlChars } from '../../text.ts'

/** One line of a screen: text in pieces with a style each. */
export type ScreenLine = readonly ScreenSpan[]

interface ScreenSpan {
  readonly text: string
  readonly style?: ScreenStyle
}

export type ScreenStyle = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'bar'

const STYLE_CODES: Readonly<Record<ScreenStyle, string>> = {
  bold: '1',
  dim: '2',
  red: '31',
  green: '32',
  yellow: '33',
  cyan: '36',
  bar: '7',
}

/**
 * Encodes a line of exactly `width` columns. Everything that a tape may contain is escaped, so that it can neither move the cursor
 * nor change colours. `isSelected` shows the line inverted.
 */
export function encodeLine(line: ScreenLine, width: number, isSelected = false): string {
  let left = width
  let encoded = ''
  for (const { text, style } of line) {
    const shown = fitText(text, left)
    left -= textWidth(shown)
    encoded += style === undefined || isSelected ? shown : `\u001B[${STYLE_CODES[style]}m${shown}\u001B[0m`
  }
  const padded = encoded + ' '.repeat(Math.max(0, left))
  return isSelected ? `\u001B[7m${padded}\u001B[0m` : padded
}

/** An encoded line in which only bold, dim and inverted text remains. */
export function withoutColors(line: string): string {
  return line.replaceAll(COLOR_CODE, '\u001B[0m')
}

const COLOR_CODE = new RegExp(String.raw`\u001B\[3[1-6]m`, 'g')

/** Escapes control characters, and truncates the text to a number of columns. */
export function fitText(text: string, columns: number): string {
  // A column has at least one character, so that a long text is not escaped as a whole.
  const shown = escapeControlChars(text.slice(0, columns * 4 + 16))
  if (textWidth(shown) <= columns) return shown
  let fitted = ''
  let used = 0
  for (const char of shown) {
    const wide = charWidth(char)
    if (used + wide > columns - 1) break
    fitted += char
    used += wide
  }
  return columns > 0 ? `${fitted}…` : ''
}

/** The number of columns that a text without control characters takes. */
export function textWidth(text: string): number {
  let width = 0
  for (const char of text) width += charWidth(char)
  return width
}

function charWidth(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  if (ZERO_WIDTH.test(char)) return 0
  return WIDE_RANGES.some(([first, last]) => code >= first && code <= last) ? 2 : 1
}

/** Marks that are drawn over the character before them, and variation selectors. */
const ZERO_WIDTH = /^\p{M}$/u

/** East Asian characters and emoji, which take two columns (Unicode Standard Annex #11, shortened). */
const WIDE_RANGES: readonly (readonly [number, number])[] = [
  [0x11_00, 0x11_5f],
  [0x2e_80, 0x30_3e],
  [0x30_41, 0x33_ff],
  [0x34_00, 0x4d_bf],
  [0x4e_00, 0x9f_ff],
  [0xa0_00, 0xa4_cf],
  [0xac_00, 0xd7_a3],
  [0xf9_00, 0xfa_ff],
  [0xfe_30, 0xfe_6f],
  [0xff_00, 0xff_60],
  [0xff_e0, 0xff_e6],
  [0x1_f3_00, 0x1_f6_4f],
  [0x1_f6_80, 0x1_f6_ff],
  [0x1_f9_00, 0x1_f9_ff],
  [0x2_00_00, 0x3_ff_fd],
]
