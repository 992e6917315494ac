/** A private key that comes line by line: only the first and the last say what stands between. */
export class PrivateKeyLines {
  #linesLeft = 0

  /** Takes the next line; says whether it is a part of a key that nothing else tells. */
  isKeyLine(line: string): boolean {
    const isInside = this.#linesLeft > 0 && !line.includes('-----')
    if (isInside) this.#linesLeft--
    else this.#linesLeft = BEGIN.test(line) && !line.includes('-----END ') ? MAX_KEY_LINES : 0
    return isInside
  }
}

const BEGIN = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/
const MAX_KEY_LINES = 400
