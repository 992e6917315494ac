import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { errorMessage, ReelayError } from '../../errors.ts'
import type { TapeProblem } from './frame-reader.ts'
import { openTape } from './read.ts'
import { replaceFile } from './replace-file.ts'

/** What is wrong with a tape. */
export interface TapeCheck {
  readonly path: string
  readonly frames: number
  /** False if the tape was cut off, or is still being recorded. */
  readonly ended: boolean
  readonly problems: readonly TapeProblem[]
  /** When the tape was recorded. */
  readonly started?: string
  /** Why nothing of the tape can be read. */
  readonly unreadable?: string
  /** What to do about that. */
  readonly hint?: string
}

/** Reads a whole tape, frame by frame. */
export async function checkTape(path: string): Promise<TapeCheck> {
  let frames = 0
  try {
    const reader = await openTape(path)
    for await (const batch of reader.batches()) frames += batch.length
    const { ended, problems } = reader.state
    return { path, frames, ended, problems: [...problems], started: reader.header.started }
  } catch (error) {
    const hint = error instanceof ReelayError ? error.hint : undefined
    const unreadable = errorMessage(error)
    return { path, frames, ended: false, problems: [], unreadable, ...(hint !== undefined && { hint }) }
  }
}

/** Leaves out the lines that cannot be read, and adds the missing end. All other bytes stay as they are. */
export async function repairTape({ path, problems, unreadable, ended }: TapeCheck): Promise<void> {
  if (unreadable !== undefined)
    throw new ReelayError('TAPE_UNREADABLE', `${path} cannot be repaired: ${unreadable}`, {
      hint: 'the first line of a tape must be its header',
    })
  const broken = new Set(problems.map(({ line }) => line))
  await replaceFile(path, async (draft) => {
    const file = await open(draft, 'wx', 0o600)
    try {
      const lines = createInterface({ input: createReadStream(path), crlfDelay: Infinity })
      let number = 0
      let last = { n: 0, t: 0 }
      for await (const line of lines) {
        number++
        if (broken.has(number) || (line === '' && number > 1)) continue
        await file.writeFile(`${line}\n`)
        const [, n, t] = /^\{"n":(\d+),"t":([\d.]+)/.exec(line) ?? []
        if (n !== undefined) last = { n: Number(n), t: Number(t) }
      }
      const { n, t } = last
      if (!ended) await file.writeFile(`{"n":${n + 1},"t":${t},"event":"end","frames":${n + 1}}\n`)
    } finally {
      await file.close()
    }
  })
}
