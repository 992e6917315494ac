/** Whether a value keeps to a schema; one that is nested so deeply that nobody can tell counts as if it did. */
export function passesSchema(validate: (value: unknown) => unknown, value: unknown): boolean {
  try {
    return validate(value) === true
  } catch (error) {
    if (error instanceof RangeError) return true
    throw error
  }
}
