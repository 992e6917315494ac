import type { RedactionRule } from './rule.ts'

export const privateKeyRules = (): readonly RedactionRule[] => [
  {
    name: 'private-key',
    service: 'private keys (PEM, OpenSSH, PGP)',
    keywords: ['-----BEGIN'],
    pattern: PRIVATE_KEY,
    isSecret: (value) => FIRST_LINES.test(value),
  },
  {
    name: 'seed-phrase',
    service: 'seed phrases of wallets',
    keywords: ['mnemonic', 'seed phrase', 'recovery phrase'],
    followedBy: 'value',
    pattern:
      /\b(?:mnemonic|seed phrase|recovery phrase)["'*]{0,3}(?: is)?\s{0,4}[:=]?\s{0,4}["']?(?<secret>[a-z]{3,8}(?: [a-z]{3,8}){11,23})(?![a-z])/gi,
    isLearned: true,
  },
]

const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|$)/g
// The BEGIN line alone is not a key. Headers and the signs of a list of lines can follow it.
const FIRST_LINES = /^-----BEGIN [^-]*-----(?:\\+[nr]|[\s"',+]|[A-Z][\w-]*: [^\r\n\\]*)*[A-Za-z0-9+/=]{8}/

/** Recognises a private key that arrives line by line: only its first and its last line say what is between them. */
export class PrivateKeyLines {
  #linesLeft = 0

  /** Returns true if the line is part of a key and does not look like one by itself. */
  isKeyLine(line: string): boolean {
    const isInside = this.#linesLeft > 0 && !line.includes('-----')
    if (isInside) this.#linesLeft--
    else this.#linesLeft = BEGIN.test(line) && !line.includes('-----END ') ? MAX_KEY_LINES : 0
    return isInside
  }
}

const BEGIN = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/
const MAX_KEY_LINES = 400
