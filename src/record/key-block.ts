import { KeyLines } from '../redact/key-lines.ts'
import type { Redactor } from '../redact/redactor.ts'

/** Redacts lines one by one, and a private key among them as well. */
export class KeyBlock {
  readonly #lines = new KeyLines()

  redacted(line: string, redactor: Redactor): string {
    return this.#lines.isInside(line) ? redactor.secret(line) : redactor.text(line)
  }
}
