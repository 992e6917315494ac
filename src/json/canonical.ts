/**
 * Encodes equal JSON values as the same text: keys sorted by UTF-16 code unit, no spaces, numbers as JavaScript prints them.
 * Members that are `undefined` are left out. Other values that JSON cannot represent become `null`.
 */
export function canonicalJson(value: unknown): string {
  return writeValue(value, 0)
}

type Container = Readonly<Record<string, unknown>> | readonly unknown[]

// A hostile message may be nested deeper than the call stack allows. Below this depth a list replaces the stack.
const RECURSION_LIMIT = 500

function writeValue(value: unknown, depth: number): string {
  if (typeof value === 'string') return quoteString(value)
  if (!isContainer(value)) return writeScalar(value)
  if (depth === RECURSION_LIMIT) return writeWithoutRecursion(value)
  return isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1)
}

// Most strings are short and need no escapes. For them this is faster than JSON.stringify.
function quoteString(text: string): string {
  return text.length < 64 && !NEEDS_ESCAPES.test(text) ? `"${text}"` : JSON.stringify(text)
}

// oxlint-disable-next-line no-control-regex -- JSON must escape control characters
const NEEDS_ESCAPES = /["\\\u0000-\u001f\ud800-\udfff]/

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function isArray(value: Container): value is readonly unknown[] {
  return Array.isArray(value)
}

function writeScalar(value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  return typeof value === 'boolean' ? String(value) : 'null'
}

function writeArray(items: readonly unknown[], depth: number): string {
  let text = '['
  for (let i = 0; i < items.length; i++) text += (i === 0 ? '' : ',') + writeValue(items[i], depth)
  return text + ']'
}

function writeObject(object: Readonly<Record<string, unknown>>, depth: number): string {
  let text = '{'
  for (const key of sortedKeys(object)) {
    const value = object[key]
    if (value === undefined) continue
    text += (text.length === 1 ? '' : ',') + quoteString(key) + ':' + writeValue(value, depth)
  }
  return text + '}'
}

// Most objects have few keys, which are often sorted already. For them an insertion sort is faster than Array.sort.
function sortedKeys(object: object): readonly string[] {
  const keys = Object.keys(object)
  if (keys.length > 32) return keys.toSorted()
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] ?? ''
    let at = i
    for (; at > 0 && (keys[at - 1] ?? '') > key; at--) keys[at] = keys[at - 1] ?? ''
    keys[at] = key
  }
  return keys
}

type PendingPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly value: unknown }

function writeWithoutRecursion(root: Container): string {
  const parts: string[] = []
  const todo: PendingPart[] = [{ kind: 'value', value: root }]
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (next.kind === 'text') parts.push(next.text)
    else if (isContainer(next.value)) pushReversed(todo, partsOf(next.value))
    else parts.push(writeValue(next.value, 0))
  }
  return parts.join('')
}

function partsOf(container: Container): readonly PendingPart[] {
  const pieces: PendingPart[] = []
  for (const [label, value] of keyedValues(container)) {
    pieces.push({ kind: 'text', text: (pieces.length === 0 ? '' : ',') + label }, { kind: 'value', value })
  }
  const [open, close] = isArray(container) ? ['[', ']'] : ['{', '}']
  return [{ kind: 'text', text: open }, ...pieces, { kind: 'text', text: close }]
}

function keyedValues(container: Container): readonly (readonly [string, unknown])[] {
  if (isArray(container)) return container.map((item) => ['', item])
  return sortedKeys(container)
    .filter((key) => container[key] !== undefined)
    .map((key) => [`${quoteString(key)}:`, container[key]])
}

// A spread of a long list would overflow the stack.
function pushReversed(todo: PendingPart[], pieces: readonly PendingPart[]): void {
  for (let i = pieces.length - 1; i >= 0; i--) {
    const piece = pieces[i]
    if (piece !== undefined) todo.push(piece)
  }
}
