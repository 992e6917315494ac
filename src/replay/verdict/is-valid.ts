import type { ValidateFunction } from 'ajv'

/** Whether a value keeps to a schema; one that is nested so deeply that nobody can tell counts as if it did. */
export function isValid(validate: ValidateFunction, value: unknown): boolean {
  try {
    return validate(value)
  } catch (error) {
    if (error instanceof RangeError) return true
    throw error
  }
}
