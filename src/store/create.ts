import { mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { TapeWriter } from './append.ts'

/**
 * Makes a new tape file that only its owner can read, in a folder that only its owner can enter. A file is never
 * overwritten: when the path is taken, also by a recorder that starts at this very moment, `-2`, `-3`, … is put behind its name.
 */
export function createTape(path: string): TapeWriter {
  const wanted = resolve(path)
  mkdirSync(dirname(wanted), { recursive: true, mode: 0o700 })
  for (let copy = 1; ; copy++) {
    const candidate = copy === 1 ? wanted : numbered(wanted, copy)
    const fd = openFresh(candidate)
    if (fd !== undefined) return new TapeWriter(candidate, fd)
  }
}

function openFresh(path: string): number | undefined {
  try {
    return openSync(path, 'ax', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (statSync(path).isDirectory()) throw new Error(`${path} is a folder`, { cause: error })
    return undefined
  }
}

function numbered(path: string, copy: number): string {
  const ending = /(\.tape)?\.jsonl$/.exec(path)?.[0] ?? ''
  return `${path.slice(0, path.length - ending.length)}-${copy}${ending}`
}
