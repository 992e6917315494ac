const immutableValues = new WeakSet<object>()

/** Says of a value that nobody will change it: what was found out about it stays true as long as it lives. */
export function markImmutable(value: unknown): void {
  if (isReference(value)) immutableValues.add(value)
}

export function isMarkedImmutable(value: unknown): value is object {
  return isReference(value) && immutableValues.has(value)
}

function isReference(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
