/** A copy of plain data that stands alone: a text that was cut out of a longer one keeps all of that in memory. */
export function detachedCopy<Data>(data: Data): Data {
  return structuredClone(data)
}
