/** Random schemas, changed forms of them, and random values. */
export function randomTools(
  random: () => number,
  options?: { readonly unknown?: boolean },
): {
  schema(): unknown
  changed(schema: unknown): unknown
  value(depth: number): unknown
  chance(share: number): boolean
}
