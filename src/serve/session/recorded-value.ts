/** What was recorded has the type that the caller knows it to have: a tape is not checked against schemas. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the one place where it is believed
export function castRecorded<Result>(value: unknown): Result {
  return value as Result
}
