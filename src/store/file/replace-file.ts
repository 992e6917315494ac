import { lstat, open, rename, rm, stat } from 'node:fs/promises'

/**
 * Replaces a file in one step. `writeDraft` writes the new content to a path in the same folder. Readers see the old file or the
 * new one, never a part, and a failure leaves the old file unchanged.
 */
export async function replaceFile<Result>(
  path: string,
  writeDraft: (draft: string) => Promise<Result>,
): Promise<Result> {
  const draft = `${path}.${process.pid}-${++drafts}.new`
  try {
    const result = await writeDraft(draft)
    await rename(draft, path)
    return result
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {})
    throw error
  }
}

let drafts = 0

/**
 * Writes a file that only its owner can read, in one step. Rejects a symbolic link to a file, because it would overwrite a file
 * that somebody else has chosen. A pipe or a device, such as /dev/stdout, is written to as it is.
 */
export async function writeOwnFile(path: string, chunks: Iterable<string>): Promise<void> {
  const there = await lstat(path).catch(() => undefined)
  const isLink = there?.isSymbolicLink() === true
  const target = isLink ? await stat(path).catch(() => undefined) : there
  if (target !== undefined && !target.isFile()) return writeChunks(path, chunks, 'w')
  if (isLink) throw new Error('it is a symbolic link')
  return replaceFile(path, (draft) => writeChunks(draft, chunks, 'wx'))
}

async function writeChunks(path: string, chunks: Iterable<string>, flags: 'w' | 'wx'): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    for (const chunk of chunks) await file.writeFile(chunk)
  } finally {
    await file.close()
  }
}
