import {
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  chmodSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { errorMessage, ReelayError } from '../../errors.ts'
import { decodeUtf8 } from '../../protocol/lines.ts'
import { makeFolder } from '../../store/file/write.ts'

const BYTE_ORDER_MARK = '\uFEFF'

/** A config file as it was read. */
export interface ClientConfigFile {
  /** The real file if `file` is a symbolic link. */
  readonly path: string
  readonly mode: number
  readonly byteOrderMark: string
  /** The text after the byte order mark. */
  readonly text: string
}

/** Reads a config file. Returns `undefined` if it does not exist. */
export function readClientConfig(file: string): ClientConfigFile | undefined {
  try {
    const path = realpathSync(file)
    const text = decodeUtf8(readFileSync(path))
    if (text === undefined) throw brokenConfigError(file, 'it is not UTF-8 text')
    const byteOrderMark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
    return { path, mode: statSync(path).mode & 0o777, byteOrderMark, text: text.slice(byteOrderMark.length) }
  } catch (error) {
    if (error instanceof ReelayError) throw error
    if (isNotFoundError(error)) return undefined
    throw brokenConfigError(file, errorMessage(error), error)
  }
}

/** Writes the new text, unless the file has changed since it was read. */
export function writeClientConfig(config: ClientConfigFile, text: string): void {
  const { path, byteOrderMark, mode } = config
  const now = wrapWriteErrors(path, () => readClientConfig(path))
  if (now === undefined || now.byteOrderMark + now.text !== byteOrderMark + config.text)
    throw concurrentChangeError(path)
  wrapWriteErrors(path, () => replaceFileAtomically(path, byteOrderMark + text, mode))
}

/** Path of the backup beside the config, made before its first entry was wrapped. */
export function configBackupPath({ path }: ClientConfigFile): string {
  return `${path}.reelay-backup`
}

export function writeConfigBackup(config: ClientConfigFile): void {
  const path = configBackupPath(config)
  wrapWriteErrors(path, () => replaceFileAtomically(path, config.byteOrderMark + config.text, 0o600))
}

/** Removes a backup that equals the restored file. A different backup is kept, because it contains something else. */
export function removeRedundantBackup(config: ClientConfigFile, text: string): void {
  const path = configBackupPath(config)
  try {
    if (readFileSync(path, 'utf8') === config.byteOrderMark + text) rmSync(path)
  } catch {
    // The backup does not exist or cannot be removed; the config is restored anyway.
  }
}

/** Creates the error for a config that cannot be read. Such a config is never changed. */
export function brokenConfigError(file: string, why: string, cause?: unknown): ReelayError {
  return new ReelayError('CONFIG_BROKEN', `${file} cannot be read: ${why}`, {
    hint: 'the file was not changed; fix it, then try again',
    cause,
  })
}

function wrapWriteErrors<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof ReelayError) throw error
    throw new ReelayError('CONFIG_UNWRITABLE', `${path} cannot be written: ${errorMessage(error)}`, {
      hint: 'check the permissions of the file and its folder',
      cause: error,
    })
  }
}

function concurrentChangeError(path: string): ReelayError {
  return new ReelayError('CONFIG_UNWRITABLE', `${path} was changed by another program in the meantime`, {
    hint: 'nothing was written; try again, ideally while the client is not running',
  })
}

function isNotFoundError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/** Writes a file so that a reader sees either the old content or the new, never a mix. */
export function replaceFileAtomically(path: string, text: string, mode: number): void {
  const temporary = `${path}.reelay-${process.pid}`
  makeFolder(dirname(path))
  try {
    writeAndSync(temporary, text, mode)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

function writeAndSync(path: string, text: string, mode: number): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  chmodSync(path, mode)
}
