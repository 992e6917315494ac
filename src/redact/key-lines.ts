/** A private key that comes line by line: only the first and the last say what stands between. */
export class KeyLines {
  #left = 0

  /** Takes the next line; says whether it is a part of a key that nothing else tells. */
  isInside(line: string): boolean {
    const isInside = this.#left > 0 && !line.includes('-----')
    if (isInside) this.#left--
    else this.#left = BEGIN.test(line) && !line.includes('-----END ') ? LONGEST : 0
    return isInside
  }
}

const BEGIN = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/
const LONGEST = 400
