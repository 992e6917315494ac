/** A line of a vault that gives a name to a value; any value can be written, also one of several lines. */
export function formatVaultLine(name: string, value: string): string {
  return `${name}=${PLAIN_VALUE.test(value) ? value : JSON.stringify(value)}\n`
}

/** A line of a vault that cannot be read. */
export interface BadVaultLine {
  readonly line: number
}

/**
 * The values that a vault, or any file of lines `NAME=value`, holds. Between double quotes `\n`, `\"` and the like are escapes;
 * between single quotes, and without quotes, every character is itself.
 */
export function parseVault(text: string): readonly string[] | BadVaultLine {
  const values: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    const value = valueOfVaultLine(line)
    if (value === undefined || value === '') return { line: index + 1 }
    values.push(value)
  }
  return values
}

/** What needs no quotes, and begins with none. */
const PLAIN_VALUE = /^[\w.~+/:@%,-][\w.~+/:@%,=-]*$/
const VAULT_LINE = /^\s*(?:export\s+)?[\w.-]+\s*=\s*(?:(?<double>".*")|'(?<single>.*)'|(?<bare>.*?))\s*$/s

function valueOfVaultLine(line: string): string | undefined {
  const { double, single, bare } = VAULT_LINE.exec(line)?.groups ?? {}
  return double === undefined ? (single ?? bare) : unquoteVaultValue(double)
}

/** What is no text of JSON, such as `"C:\dir"`, stands for itself. */
function unquoteVaultValue(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}
