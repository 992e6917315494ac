import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ReelayError } from '../errors.ts'
import { isObject } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { Root } from './client.ts'
import type { Piece } from './entry-edits.ts'
import { replaceFile } from './private-file.ts'

/** A wrapped entry, with what it takes to restore it byte for byte. */
export interface Remembered {
  readonly client: string
  readonly file: string
  readonly root: Root
  readonly server: string
  readonly since: string
  readonly tape: string
  readonly pieces: readonly Piece[]
}

/** Which of its entries an entry is; a config is known by the file itself, not by a link to it. */
export type EntryKey = Pick<Remembered, 'file' | 'root' | 'server'>

/** The list of wrapped entries, in `wrapped.json` of Reelay's home folder. */
export class Memory {
  readonly path: string
  #entries: readonly Remembered[]

  constructor(homeFolder: string) {
    this.path = join(homeFolder, 'wrapped.json')
    this.#entries = readEntries(this.path)
  }

  get entries(): readonly Remembered[] {
    return this.#entries
  }

  find(key: EntryKey): Remembered | undefined {
    return this.#entries.find((entry) => isSameEntry(entry, key))
  }

  add(entries: readonly Remembered[]): void {
    this.#save([...this.#without(entries), ...entries])
  }

  remove(keys: readonly EntryKey[]): void {
    if (keys.some((key) => this.find(key) !== undefined)) this.#save(this.#without(keys))
  }

  #without(keys: readonly EntryKey[]): readonly Remembered[] {
    return this.#entries.filter((entry) => !keys.some((key) => isSameEntry(entry, key)))
  }

  #save(entries: readonly Remembered[]): void {
    try {
      replaceFile(this.path, `${JSON.stringify({ version: 1, entries }, null, 2)}\n`, 0o600)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      const hint = 'check who may write the folder, or set REELAY_HOME to another one'
      throw new ReelayError('CONFIG_UNWRITABLE', `${this.path} cannot be written: ${why}`, {
        hint,
        cause: error,
      })
    }
    this.#entries = entries
  }
}

export function isSameEntry(a: EntryKey, b: EntryKey): boolean {
  return a.file === b.file && a.server === b.server && a.root.join('\0') === b.root.join('\0')
}

function readEntries(path: string): readonly Remembered[] {
  const text = textOf(path)
  if (text === undefined) return []
  const value = parseJson(text)
  const entries = isObject(value) && value['version'] === 1 ? value['entries'] : undefined
  if (Array.isArray(entries) && entries.every(isRemembered)) return entries
  throw new ReelayError('CONFIG_BROKEN', `${path} is not a list of wrapped entries`, {
    hint: 'move the file away: unwrap then restores what entries mean, though not their formatting',
  })
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    const why = error instanceof Error ? error.message : String(error)
    throw new ReelayError('CONFIG_BROKEN', `${path} cannot be read: ${why}`, { cause: error })
  }
}

function isRemembered(value: unknown): value is Remembered {
  if (!isObject(value)) return false
  const texts = ['client', 'file', 'server', 'since', 'tape'].every((key) => typeof value[key] === 'string')
  return (
    texts && isList(value['root'], (part) => typeof part === 'string') && isList(value['pieces'], isPiece)
  )
}

function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem)
}

function isPiece(value: unknown): boolean {
  if (!isObject(value) || !['command', 'args', 'entry'].includes(String(value['at']))) return false
  return typeof value['was'] === 'string' && typeof value['now'] === 'string'
}
