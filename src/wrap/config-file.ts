import { readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { decodeUtf8 } from '../wire/lines.ts'
import { replaceFile } from './private-file.ts'

const BYTE_ORDER_MARK = '\uFEFF'

/** A config file as it was when it was read. */
export interface ConfigFile {
  /** The file itself, where `file` is a link to it. */
  readonly path: string
  readonly mode: number
  readonly mark: string
  /** Everything behind the byte order mark. */
  readonly text: string
}

/** Reads a config file; undefined when there is none. */
export function readConfig(file: string): ConfigFile | undefined {
  try {
    const path = realpathSync(file)
    const text = decodeUtf8(readFileSync(path))
    if (text === undefined) throw broken(file, 'it is not UTF-8 text')
    const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    return { path, mode: statSync(path).mode & 0o777, mark, text: text.slice(mark.length) }
  } catch (error) {
    if (error instanceof ReelayError) throw error
    if (isMissing(error)) return undefined
    throw broken(file, reasonOf(error), error)
  }
}

/** Writes the new text, unless the file is no longer the one that was read. */
export function writeConfig(config: ConfigFile, text: string): void {
  const { path, mark, mode } = config
  const now = attempt(path, () => readConfig(path))
  if (now === undefined || now.mark + now.text !== mark + config.text) throw changedMeanwhile(path)
  attempt(path, () => replaceFile(path, mark + text, mode))
}

/** Beside the config, as it was before the first of its entries was wrapped. */
export function backupPath({ path }: ConfigFile): string {
  return `${path}.reelay-backup`
}

export function writeBackup(config: ConfigFile): void {
  const path = backupPath(config)
  attempt(path, () => replaceFile(path, config.mark + config.text, 0o600))
}

/** A backup that is equal to the restored file has done its work; any other stays, for it holds something more. */
export function dropEqualBackup(config: ConfigFile, text: string): void {
  const path = backupPath(config)
  try {
    if (readFileSync(path, 'utf8') === config.mark + text) rmSync(path)
  } catch {
    // There is none, or it cannot be removed: the config is restored all the same.
  }
}

/** A config that cannot be read is left alone. */
export function broken(file: string, why: string, cause?: unknown): ReelayError {
  return new ReelayError('CONFIG_BROKEN', `${file} cannot be read: ${why}`, {
    hint: 'the file is left as it is; mend it first, then try again',
    cause,
  })
}

function attempt<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof ReelayError) throw error
    throw new ReelayError('CONFIG_UNWRITABLE', `${path} cannot be written: ${reasonOf(error)}`, {
      hint: 'check who may write the file and its folder',
      cause: error,
    })
  }
}

function changedMeanwhile(path: string): ReelayError {
  return new ReelayError('CONFIG_UNWRITABLE', `${path} was changed by another program at this very moment`, {
    hint: 'nothing was written; try again, best while the client is not running',
  })
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
