import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ReelayError } from '../errors.ts'
import { labelsToEnv, parseTag } from '../record/labels.ts'
import { resolveTape } from '../store/home.ts'
import { pickLabels, type TapeLabels } from '../tape/labels.ts'

export interface RunFlags {
  readonly record?: string
  readonly replay?: string
  readonly server?: string
  readonly vault?: string
  readonly session?: string
  readonly endpoint?: string
  readonly agent?: string
  readonly note?: string
  readonly tag?: readonly string[]
}

/** Says before the program runs what could not work. */
export function checkRunFlags(flags: RunFlags, env: NodeJS.ProcessEnv): void {
  const { record, replay, vault } = flags
  if ((record === undefined) === (replay === undefined)) throw recordOrReplay()
  const labels = Object.keys(labelsToEnv(readRunLabels(flags)))
  if (replay !== undefined && labels.length > 0) throw labelsWithoutRecord()
  if (replay !== undefined && vault !== undefined) throw vaultWithoutRecord()
  const path = resolveTape(record ?? replay ?? '', env)
  if (replay === undefined || existsSync(path)) return
  throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
    hint: `record it first: reelay run --record ${replay} -- <command>`,
  })
}

/** The environment in which every Node program records or replays. Switches from outside give way to those of the command line. */
export function runEnvironment(flags: RunFlags, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { record, replay, server, vault } = flags
  const mode = record === undefined ? 'REELAY_REPLAY' : 'REELAY_RECORD'
  const cleared = Object.entries(env).filter(
    ([name]) => !/^REELAY_(RECORD|REPLAY)(_SERVER|_VAULT)?$/.test(name),
  )
  return {
    ...Object.fromEntries(cleared),
    // A path, because the program may run in another folder.
    [mode]: resolveTape(record ?? replay ?? '', env),
    ...(server !== undefined && { [`${mode}_SERVER`]: server }),
    ...(vault !== undefined && { REELAY_RECORD_VAULT: resolve(vault) }),
    ...labelsToEnv(readRunLabels(flags)),
    NODE_OPTIONS: [env['NODE_OPTIONS'], `--import=${AUTO_MODULE}`].filter(Boolean).join(' '),
  }
}

/** They travel in one variable, with commas between. */
function readRunLabels({ tag = [], ...flags }: RunFlags): TapeLabels {
  const tags = tag.map((text) => parseTag('--tag', text))
  if (tag.some((text) => text.includes(',')))
    throw new ReelayError('USAGE', 'a tag of a run has no comma in it', { hint: 'give several --tag' })
  return pickLabels({ ...flags, tags: Object.fromEntries(tags) })
}

const AUTO_MODULE = new URL('../auto/index.js', import.meta.url).href

function labelsWithoutRecord(): ReelayError {
  const hint = 'leave out --session, --endpoint, --agent, --note and --tag, or record'
  return new ReelayError('USAGE', 'a replay makes no tape that could be labelled', { hint })
}

function vaultWithoutRecord(): ReelayError {
  const hint = 'leave out --vault, or record'
  return new ReelayError('USAGE', 'a replay writes no vault', { hint })
}

function recordOrReplay(): ReelayError {
  const hint = 'as in: reelay run --record my-tape -- node app.js'
  return new ReelayError('USAGE', 'give either --record <tape> or --replay <tape>', { hint })
}
