import type { Redactor } from '../redact/redactor.ts'

/** A private key that is printed line by line: only the first and the last say what stands between. */
export class KeyBlock {
  #lines = 0

  /** Whether the next line may be part of a key. */
  get isOpen(): boolean {
    return this.#lines > 0
  }

  redacted(line: string, redactor: Redactor): string {
    const isInside = this.isOpen && !line.includes('-----')
    if (isInside) this.#lines--
    else this.#lines = BEGIN.test(line) && !line.includes('-----END ') ? LONGEST : 0
    return isInside ? redactor.secret(line) : redactor.text(line)
  }
}

const BEGIN = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/
const LONGEST = 400
