const lasting = new WeakSet<object>()

/** Says of a value that nobody will change it: what was found out about it stays true as long as it lives. */
export function markLasting(value: unknown): void {
  if (isReference(value)) lasting.add(value)
}

export function isLasting(value: unknown): value is object {
  return isReference(value) && lasting.has(value)
}

function isReference(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
