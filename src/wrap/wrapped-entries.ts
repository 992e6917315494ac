import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ReelayError } from '../errors.ts'
import { isObject, parseJson } from '../json/parse.ts'
import type { ServerTablePath } from './clients/client.ts'
import type { ReversibleEdit } from './entries/command-entry.ts'
import { replaceFileAtomically } from './configs/config-file.ts'

/** A wrapped entry, with everything needed to restore it byte for byte. */
export interface WrappedEntry {
  readonly client: string
  readonly file: string
  readonly root: ServerTablePath
  readonly server: string
  readonly since: string
  readonly tape: string
  readonly pieces: readonly ReversibleEdit[]
}

/** Identifies an entry. A config is identified by the real file, not by a link to it. */
export type WrappedEntryKey = Pick<WrappedEntry, 'file' | 'root' | 'server'>

/** The list of wrapped entries, kept in `wrapped.json` in Reelay's home folder. */
export class WrappedEntryStore {
  readonly path: string
  #entries: readonly WrappedEntry[]

  constructor(homeFolder: string) {
    this.path = join(homeFolder, 'wrapped.json')
    this.#entries = readWrappedEntries(this.path)
  }

  get entries(): readonly WrappedEntry[] {
    return this.#entries
  }

  find(key: WrappedEntryKey): WrappedEntry | undefined {
    return this.#entries.find((entry) => isSameEntry(entry, key))
  }

  add(entries: readonly WrappedEntry[]): void {
    this.#save([...this.#without(entries), ...entries])
  }

  remove(keys: readonly WrappedEntryKey[]): void {
    if (keys.some((key) => this.find(key) !== undefined)) this.#save(this.#without(keys))
  }

  #without(keys: readonly WrappedEntryKey[]): readonly WrappedEntry[] {
    return this.#entries.filter((entry) => !keys.some((key) => isSameEntry(entry, key)))
  }

  #save(entries: readonly WrappedEntry[]): void {
    try {
      replaceFileAtomically(this.path, `${JSON.stringify({ version: 1, entries }, null, 2)}\n`, 0o600)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const hint = 'check the permissions of the folder, or set REELAY_HOME to another one'
      throw new ReelayError('CONFIG_UNWRITABLE', `${this.path} cannot be written: ${why}`, {
        hint,
        cause: error,
      })
    }
    this.#entries = entries
  }
}

export function isSameEntry(a: WrappedEntryKey, b: WrappedEntryKey): boolean {
  return a.file === b.file && a.server === b.server && a.root.join('\0') === b.root.join('\0')
}

function readWrappedEntries(path: string): readonly WrappedEntry[] {
  const text = readTextIfExists(path)
  if (text === undefined) return []
  const value = parseJson(text)
  const entries = isObject(value) && value['version'] === 1 ? value['entries'] : undefined
  if (Array.isArray(entries) && entries.every(isWrappedEntry)) return entries
  throw new ReelayError('CONFIG_BROKEN', `${path} is not a list of wrapped entries`, {
    hint: 'move the file away; unwrap then restores the meaning of entries, but not their formatting',
  })
}

function readTextIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    const why = error instanceof Error ? error.message : String(error)
    throw new ReelayError('CONFIG_BROKEN', `${path} cannot be read: ${why}`, { cause: error })
  }
}

function isWrappedEntry(value: unknown): value is WrappedEntry {
  if (!isObject(value)) return false
  const texts = ['client', 'file', 'server', 'since', 'tape'].every((key) => typeof value[key] === 'string')
  return (
    texts &&
    isListOf(value['root'], (part) => typeof part === 'string') &&
    isListOf(value['pieces'], isReversibleEdit)
  )
}

function isListOf(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem)
}

function isReversibleEdit(value: unknown): boolean {
  if (!isObject(value) || !['command', 'args', 'entry'].includes(String(value['at']))) return false
  return typeof value['was'] === 'string' && typeof value['now'] === 'string'
}
