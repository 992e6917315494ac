import { canonicalJson } from '../json/canonical.ts'
import { indentJson } from './layout-json.ts'
import { escapeControlCharsInJson } from '../text.ts'

/** Values that are JSON text already, such as a message as it was spelled on the wire. */
export type JsonMembers = Readonly<Record<string, string>>

/** A whole document, laid out for reading, safe to show on a terminal. Its lists may be long: they are laid out item by item. */
export function jsonDocument(members: Readonly<Record<string, string | readonly string[]>>): string {
  const written = Object.entries(members).map(
    ([name, value]) =>
      `  ${JSON.stringify(name)}: ${typeof value === 'string' ? indentedJson(value, 1) : indentedList(value)}`,
  )
  return `{\n${written.join(',\n')}\n}\n`
}

export function jsonObject(members: JsonMembers): string {
  const written = Object.entries(members).map(([name, json]) => `${JSON.stringify(name)}:${json}`)
  return `{${written.join(',')}}`
}

export function jsonList(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** A value as JSON; canonical, because JSON.stringify overflows on what a stranger has nested deeply. */
export function jsonValue(value: unknown): string {
  return canonicalJson(value)
}

function indentedList(items: readonly string[]): string {
  if (items.length === 0) return '[]'
  return `[\n${items.map((item) => `    ${indentedJson(item, 2)}`).join(',\n')}\n  ]`
}

function indentedJson(json: string, depth: number): string {
  return indentJson(escapeControlCharsInJson(json), depth)
}
