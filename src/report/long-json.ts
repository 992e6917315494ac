/** A list of which one item is in memory at a time. */
export class StreamedList {
  readonly items: () => Iterable<object>

  constructor(items: () => Iterable<object>) {
    this.items = items
  }
}

/** A JSON document whose lists may be of any length, piece by piece; laid out as JSON.stringify does it with an indent of two. */
export function* streamJson(members: Readonly<Record<string, unknown>>): Generator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    yield `${before}\n  ${JSON.stringify(name)}: `
    if (value instanceof StreamedList) yield* streamList(value)
    else yield indentedValue(value, '  ')
    before = ','
  }
  yield before === '{' ? '{}\n' : '\n}\n'
}

function* streamList({ items }: StreamedList): Generator<string> {
  let before = '['
  for (const item of items()) {
    yield `${before}\n    ${indentedValue(item, '    ')}`
    before = ','
  }
  yield before === '[' ? '[]' : '\n  ]'
}

function indentedValue(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`)
}
