/** Random schemas, changed forms of them, and random values. */
export function randomTools(random: () => number): {
  schema(): unknown
  changed(schema: unknown): unknown
  value(depth: number): unknown
  chance(share: number): boolean
}
