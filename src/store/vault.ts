import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { parseVault, formatVaultLine } from '../redact/vault-text.ts'
import { vaultRefused, checkVaultPath } from './vault-place.ts'

/** What became of a vault, for the line that the user sees at the end. */
export interface VaultSummary {
  readonly path: string
  /** How many values it has got. */
  readonly added: number
  /** Why it lacks some. */
  readonly trouble: string | undefined
}

/**
 * A file with the real values behind stand-ins, which only its owner can read. It only grows, by one write at a time: recorders that
 * run at once share it, and a crash leaves what was there.
 */
export class Vault {
  readonly path: string
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #saved = new Set<string>()
  #added = 0
  #trouble: string | undefined
  #source: () => readonly string[] = () => []
  #timer: NodeJS.Timeout | undefined

  /** Throws when the values would not be kept to their owner there. Variables name the values that they hold. */
  constructor(path: string, { tape, env = process.env }: VaultOptions) {
    this.path = checkVaultPath(path, tape)
    this.#env = env
    this.#write([])
    if (this.#trouble !== undefined) throw vaultRefused(path, this.#trouble)
  }

  /** Writes what there is now, and now and then what has come since: a recorder may be killed. */
  autoSave(values: () => readonly string[]): void {
    this.#source = values
    this.#timer = setInterval(() => this.save(values()), SAVE_INTERVAL_MS).unref()
  }

  /** Nothing in here fails a session: what could not be written is in the summary. */
  save(values: readonly string[]): void {
    if (values.length !== this.#saved.size) this.#write(values)
  }

  /** Writes the rest; may be called twice. */
  close(): VaultSummary {
    clearInterval(this.#timer)
    this.save(this.#source())
    return { path: this.path, added: this.#added, trouble: this.#trouble }
  }

  #write(values: readonly string[]): void {
    const fresh = values.filter((value) => !this.#saved.has(value))
    try {
      this.#added += appendLines(this.path, (known) =>
        fresh
          .filter((value) => !known.has(value))
          .map((value) => formatVaultLine(this.#nameOf(value), value)),
      )
      for (const value of fresh) this.#saved.add(value)
      this.#trouble = undefined
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error)
    }
  }

  #nameOf(value: string): string {
    const name = Object.keys(this.#env).find((each) => this.#env[each] === value)
    return name !== undefined && /^[\w.-]+$/.test(name) ? name : 'SECRET'
  }
}

export interface VaultOptions {
  /** The tape that the stand-ins are on: a vault does not lie where others get both. */
  readonly tape: string
  readonly env?: Readonly<Record<string, string | undefined>> | undefined
}

const SAVE_INTERVAL_MS = 1000
const VAULT_HEADER =
  '# The real values behind stand-ins on tapes of Reelay: for --secrets of replay, verify and serve.\n# Keep this file to yourself. Anybody who reads it has your secrets.\n'

/** Adds lines with one write, which no other recorder can cut in two; says how many. */
function appendLines(path: string, linesFor: (known: ReadonlySet<string>) => readonly string[]): number {
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW } = constants
  const file = openSync(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600)
  try {
    if (process.platform !== 'win32' && (fstatSync(file).mode & 0o077) !== 0)
      throw new Error('others can read it by now')
    const before = readFileSync(file, 'utf8')
    const lines = linesFor(valuesAlreadyIn(before))
    const text = (before === '' ? VAULT_HEADER : before.endsWith('\n') ? '' : '\n') + lines.join('')
    if (text === '') return 0
    const bytes = Buffer.from(text)
    if (writeSync(file, bytes) < bytes.length) throw new Error('the disk has no room for all of it')
    fsyncSync(file)
    return lines.length
  } finally {
    closeSync(file)
  }
}

/** What a user wrote into it by hand may be anything. */
function valuesAlreadyIn(text: string): ReadonlySet<string> {
  const values = parseVault(text)
  return new Set('line' in values ? [] : values)
}
