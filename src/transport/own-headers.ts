/** A header that the recorder adds to every request to its server, such as a token that the client does not have. */
export interface AddedHeader {
  readonly name: string
  readonly value: string
}

/** Puts our headers in the place of the client's of the same name. */
export function withAddedHeaders(flat: string[], own: readonly AddedHeader[]): string[] {
  if (own.length === 0) return flat
  const ours = new Set(own.map(({ name }) => name.toLowerCase()))
  const kept: string[] = []
  for (let at = 0; at + 1 < flat.length; at += 2)
    if (!ours.has(flat[at]!.toLowerCase())) kept.push(flat[at]!, flat[at + 1]!)
  return [...kept, ...own.flatMap(({ name, value }) => [name, value])]
}
