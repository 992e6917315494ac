import { existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { TapeWriter } from './write.ts'

/**
 * Creates a tape file that only its owner can read, in a folder that only its owner can open. An existing file is never
 * overwritten: if the path is taken, `-2`, `-3`, … is added to the name. This also holds for recorders that start at the same time.
 */
export function createTape(path: string): TapeWriter {
  const wanted = resolve(path)
  const fd = openInFolder(wanted)
  return fd === undefined ? createCopy(wanted) : new TapeWriter(wanted, fd)
}

function openInFolder(path: string): number | undefined {
  try {
    return openNew(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    makeFolder(dirname(path))
    return openNew(path)
  }
}

// `recursive` is not used: in a folder that allows no new files, such as /proc, Node would retry forever.
function makeFolder(path: string): void {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Reads the next number from the folder, because there may be many tapes of the same name. */
function createCopy(wanted: string): TapeWriter {
  if (statSync(wanted).isDirectory()) throw new Error(`${wanted} is a folder`)
  for (let copy = lastCopyNumber(wanted) + 1; ; copy++) {
    const candidate = numberedPath(wanted, copy)
    const fd = openNew(candidate)
    if (fd !== undefined) return new TapeWriter(candidate, fd)
  }
}

function openNew(path: string): number | undefined {
  try {
    return openSync(path, 'ax', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return undefined
  }
}

function lastCopyNumber(wanted: string): number {
  const name = basename(wanted)
  const ending = tapeExtensionOf(name)
  const stem = `${name.slice(0, name.length - ending.length)}-`
  const copies = readdirSync(dirname(wanted))
    .filter((other) => other.startsWith(stem) && other.endsWith(ending))
    .map((other) => Number(other.slice(stem.length, other.length - ending.length)))
  return Math.max(1, ...copies.filter((copy) => Number.isInteger(copy)))
}

/** The number of the last tape with this name; 0 if there is none. */
export function lastTapeNumber(path: string): number {
  return existsSync(path) ? lastCopyNumber(path) : 0
}

/** The path of a further tape with the same name. */
export function numberedPath(path: string, copy: number): string {
  const ending = tapeExtensionOf(path)
  return `${path.slice(0, path.length - ending.length)}-${copy}${ending}`
}

function tapeExtensionOf(path: string): string {
  return /(\.tape)?\.jsonl$/.exec(path)?.[0] ?? ''
}
