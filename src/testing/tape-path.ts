import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { TAPE_EXTENSION, isTapePath, resolveTape } from '../store/home.ts'

/** What a test runner says about the test that runs. */
export interface RunningTest {
  /** The path of the test file. */
  readonly file: string
  /** The names of the suites and of the test. */
  readonly names: readonly string[]
  /** The user asked the runner to update snapshots. */
  readonly isUpdating: boolean
  /** How the user asks for that, for messages: `vitest -u`. */
  readonly update: string
  /** Sequence number of this tape within the test; 1 for the first. */
  readonly nth: number
}

/** The path of a tape: as it was given, by its name in `__tapes__/` beside the test, or by the name of the test. */
export function tapePathOf({ file, names, nth }: RunningTest, name: string | undefined): string {
  if (name !== undefined && isTapePath(name)) return resolveTape(name)
  const folder = join(dirname(file), '__tapes__')
  if (name !== undefined) {
    resolveTape(name) // rejects names that cannot be names of files
    return join(folder, `${name}${TAPE_EXTENSION}`)
  }
  const stem = basename(file).replace(/(\.(test|spec))?\.[cm]?[jt]sx?$/, '')
  const suffix = nth > 1 ? `-${nth}` : ''
  return join(folder, stem, `${fileNameOf(names)}${suffix}${TAPE_EXTENSION}`)
}

const LONGEST_NAME = 60

/** Letters and digits of the test name. If that is not the whole name, a hash keeps similar names apart. */
function fileNameOf(names: readonly string[]): string {
  const whole = names.join(' ')
  const words = whole
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
  const isWhole = words.length <= LONGEST_NAME && words.replaceAll('-', ' ') === whole
  if (isWhole && words !== '') return words
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, 6)
  const short = words.slice(0, LONGEST_NAME).replace(/-$/, '')
  return short === '' ? hash : `${short}-${hash}`
}
