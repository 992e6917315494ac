import { rename, rm } from 'node:fs/promises'

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
