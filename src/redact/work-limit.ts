import { ReelayError } from '../errors.ts'

/**
 * Limits the work of searching one text. Work is counted in characters, not in milliseconds, so that a text gives the same result
 * on every machine and under any load.
 */
export class WorkLimit {
  readonly #most: number
  #left: number

  constructor(most: number) {
    this.#most = most
    this.#left = most
  }

  /** Starts to count for the next text. */
  begin(): void {
    this.#left = this.#most
  }

  /** Throws if there was too much work for this text. */
  spend(characters: number): void {
    this.#left -= characters
    if (this.#left < 0) throw redactionLimit('searching it for secrets takes too long')
  }
}

/** The error if a text cannot be searched in a reasonable time. The text is not part of it. */
export function redactionLimit(why: string): ReelayError {
  return new ReelayError('REDACTION_LIMIT', why, {
    hint: 'simplify the patterns of the project in reelay.config.yaml, if it has any',
  })
}

/** Returns true for the error above. */
export function isRedactionLimit(error: unknown): error is ReelayError {
  return error instanceof ReelayError && error.code === 'REDACTION_LIMIT'
}
