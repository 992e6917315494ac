import type { ReelayError } from '../errors.ts'
import { isCi } from '../serve/upstream/upstream.ts'
import { suggestName } from '../text.ts'
import { usageInTest } from './tape-difference.ts'
import type { RunningTest } from './tape-path.ts'

const TAPE_MODES = ['auto', 'once', 'new-episodes', 'rewrite', 'none', 'all', 'update'] as const
export type TapeMode = (typeof TAPE_MODES)[number]

/** The mode of a test: `REELAY_MODE`, else the update option of the runner, else the option of the test. */
export function chooseMode(
  given: TapeMode = 'auto',
  { isUpdating }: Pick<RunningTest, 'isUpdating'>,
): TapeMode {
  const forced = process.env['REELAY_MODE']
  if (forced !== undefined && forced !== '') return announced(resolved(readMode(forced)), forced)
  if (!TAPE_MODES.includes(given)) throw noMode(`mode: '${given}'`, given)
  return isUpdating ? 'update' : resolved(given)
}

function resolved(mode: TapeMode): TapeMode {
  if (mode !== 'auto') return mode
  return isCi() ? 'none' : 'once'
}

function readMode(text: string): TapeMode {
  const found = TAPE_MODES.find((mode) => mode === text)
  if (found !== undefined) return found
  throw noMode(`REELAY_MODE=${text}`, text)
}

function noMode(given: string, name: string): ReelayError {
  return usageInTest(
    `${given} is not a mode${suggestName(name, TAPE_MODES)}`,
    `use one of ${TAPE_MODES.join(', ')}`,
  )
}

let isAnnounced = false

/** Says once in each process that the environment decides, because it overrides what the tests say. */
function announced(mode: TapeMode, forced: string): TapeMode {
  if (!isAnnounced) process.stderr.write(`reelay: REELAY_MODE=${forced} overrides the modes of all tests\n`)
  isAnnounced = true
  return mode
}
