import type { RedactionRule } from './rule.ts'

export const privateKeyRules = (): readonly RedactionRule[] => [
  {
    name: 'private-key',
    service: 'private keys (PEM, OpenSSH, PGP)',
    keywords: ['-----BEGIN', '---- BEGIN'],
    pattern: PRIVATE_KEY,
    isSecret: (value) => FIRST_LINES.test(value) || KEY_LINE.test(value),
  },
  {
    name: 'putty-key',
    service: 'private keys of PuTTY',
    keywords: ['Private-Lines:'],
    pattern:
      /\bPrivate-Lines: \d{1,3}\r?\n(?<secret>[A-Za-z0-9+/=]{4,80}(?:\r?\n[A-Za-z0-9+/=]{4,80}(?![\w:-])){0,200})/g,
    isLearned: true,
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
  /-----BEGIN (?:(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----[\s\S]*?(?:-----END (?:(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----|$)|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[\s\S]*?(?:---- END SSH2 ENCRYPTED PRIVATE KEY ----|$)/g
// The BEGIN line alone is not a key. Headers and the signs of a list of lines can follow it.
const FIRST_LINES = /^-----BEGIN [^-]*-----(?:\\+[nr]|[\s"',+]|[A-Z][\w-]*: [^\r\n\\]*)*[A-Za-z0-9+/=]{8}/

/** A line of the key, whatever is before it: the number of the line, the name of the file, the signs of a quoted mail, a comment. */
const KEY_LINE =
  /^-----? ?BEGIN [^-]*-----?(?:[^\r\n]{0,120}[\r\n]+){0,4}[^\r\n]{0,120}?(?<![A-Za-z0-9+/=])[A-Za-z0-9+/=]{32}/

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
