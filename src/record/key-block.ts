import { PrivateKeyLines } from '../redact/rules/private-key.ts'
import type { Redactor } from '../redact/redactor.ts'

/** Redacts lines one by one, and a private key among them as well. */
export class PrivateKeyRedactor {
  readonly #lines = new PrivateKeyLines()

  redact(line: string, redactor: Redactor): string {
    return this.#lines.isKeyLine(line) ? redactor.secret(line) : redactor.text(line)
  }
}
