/** A line of a vault that gives a name to a value; any value can be written, also one of several lines. */
export function vaultLine(name: string, value: string): string {
  return `${name}=${PLAIN.test(value) ? value : JSON.stringify(value)}\n`
}

/** A line of a vault that cannot be read. */
export interface BadLine {
  readonly line: number
}

/**
 * The values that a vault, or any file of lines `NAME=value`, holds. Between double quotes `\n`, `\"` and the like are escapes;
 * between single quotes, and without quotes, every character is itself.
 */
export function valuesInVault(text: string): readonly string[] | BadLine {
  const values: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const value = valueIn(line)
    if (value === undefined || value === '') return { line: index + 1 }
    values.push(value)
  }
  return values
}

/** What needs no quotes, and begins with none. */
const PLAIN = /^[\w.~+/:@%,-][\w.~+/:@%,=-]*$/
const LINE = /^\s*(?:export\s+)?[\w.-]+\s*=\s*(?:(?<double>".*")|'(?<single>.*)'|(?<bare>.*?))\s*$/s

function valueIn(line: string): string | undefined {
  const { double, single, bare } = LINE.exec(line)?.groups ?? {}
  return double === undefined ? (single ?? bare) : unquoted(double)
}

/** What is no text of JSON, such as `"C:\dir"`, stands for itself. */
function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}
