import { readFile } from 'node:fs/promises'
import { ReelayError } from '../errors.ts'

/** A settings file, and what stands in it. */
export interface CompanionFile {
  readonly path: string
  readonly value: unknown
}

/** Reads the one of these files that is there. Two would contradict each other sooner or later. */
export async function readCompanionFile(paths: readonly string[]): Promise<CompanionFile | undefined> {
  const found = (await Promise.all(paths.map(readCompanionText))).filter((file) => file !== undefined)
  const [file, other] = found
  if (file === undefined) return undefined
  if (other !== undefined)
    throw new ReelayError('SETTINGS_INVALID', `there are both ${file.path} and ${other.path}`, {
      hint: 'keep one of them',
    })
  return { path: file.path, value: await parseCompanion(file) }
}

interface CompanionText {
  readonly path: string
  readonly text: string
}

async function readCompanionText(path: string): Promise<CompanionText | undefined> {
  try {
    return { path, text: await readFile(path, 'utf8') }
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw new ReelayError('SETTINGS_INVALID', `${path} cannot be read: ${String(cause)}`, { cause })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

async function parseCompanion({ path, text }: CompanionText): Promise<unknown> {
  try {
    if (path.endsWith('.json')) return JSON.parse(text)
    const { parse } = await import('yaml')
    return parse(text)
  } catch (cause) {
    const [why = ''] = (cause instanceof Error ? cause.message : String(cause)).split(/:?\n/, 1)
    throw new ReelayError('SETTINGS_INVALID', `${path} cannot be read: ${why}`, {
      hint: 'correct that place in the file, or remove the file',
      cause,
    })
  }
}
