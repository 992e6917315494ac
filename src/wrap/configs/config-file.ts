import {
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ReelayError } from '../../errors.ts'
import { decodeUtf8 } from '../../protocol/lines.ts'

const BYTE_ORDER_MARK = '\uFEFF'

/** A config file as it was when it was read. */
export interface ClientConfigFile {
  /** The file itself, where `file` is a link to it. */
  readonly path: string
  readonly mode: number
  readonly byteOrderMark: string
  /** Everything behind the byte order mark. */
  readonly text: string
}

/** Reads a config file; undefined when there is none. */
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
    throw brokenConfigError(file, errorText(error), error)
  }
}

/** Writes the new text, unless the file is no longer the one that was read. */
export function writeClientConfig(config: ClientConfigFile, text: string): void {
  const { path, byteOrderMark, mode } = config
  const now = wrapWriteErrors(path, () => readClientConfig(path))
  if (now === undefined || now.byteOrderMark + now.text !== byteOrderMark + config.text)
    throw concurrentChangeError(path)
  wrapWriteErrors(path, () => replaceFileAtomically(path, byteOrderMark + text, mode))
}

/** Beside the config, as it was before the first of its entries was wrapped. */
export function configBackupPath({ path }: ClientConfigFile): string {
  return `${path}.reelay-backup`
}

export function writeConfigBackup(config: ClientConfigFile): void {
  const path = configBackupPath(config)
  wrapWriteErrors(path, () => replaceFileAtomically(path, config.byteOrderMark + config.text, 0o600))
}

/** A backup that is equal to the restored file has done its work; any other stays, for it holds something more. */
export function removeRedundantBackup(config: ClientConfigFile, text: string): void {
  const path = configBackupPath(config)
  try {
    if (readFileSync(path, 'utf8') === config.byteOrderMark + text) rmSync(path)
  } catch {
    // There is none, or it cannot be removed: the config is restored all the same.
  }
}

/** A config that cannot be read is left alone. */
export function brokenConfigError(file: string, why: string, cause?: unknown): ReelayError {
  return new ReelayError('CONFIG_BROKEN', `${file} cannot be read: ${why}`, {
    hint: 'the file is left as it is; mend it first, then try again',
    cause,
  })
}

function wrapWriteErrors<Result>(path: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (error instanceof ReelayError) throw error
    throw new ReelayError('CONFIG_UNWRITABLE', `${path} cannot be written: ${errorText(error)}`, {
      hint: 'check who may write the file and its folder',
      cause: error,
    })
  }
}

function concurrentChangeError(path: string): ReelayError {
  return new ReelayError('CONFIG_UNWRITABLE', `${path} was changed by another program at this very moment`, {
    hint: 'nothing was written; try again, best while the client is not running',
  })
}

function isNotFoundError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Writes a file so that a reader sees the old one or the new one, never half of it. */
export function replaceFileAtomically(path: string, text: string, mode: number): void {
  const temporary = `${path}.reelay-${process.pid}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
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
