/** A JSON-RPC id keeps its JSON type: `1` and `"1"` are two ids. */
export type Id = string | number

export function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number'
}

/** A key under which no number meets a string. */
export function idKey(id: Id): string {
  return typeof id === 'number' ? `#${id}` : `"${id}`
}

/** The id that a key stands for. */
export function idFromKey(key: string): Id {
  return key.startsWith('#') ? Number(key.slice(1)) : key.slice(1)
}

/** An id as JSON. Ids are mostly numbers, and written for every message. */
export function idToJson(id: Id): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id)
}
