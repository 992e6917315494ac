import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

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
