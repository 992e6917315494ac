import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { ReelayError } from '../errors.ts'
import { labelsAsEnv, readTag } from '../record/labels.ts'
import { resolveTape } from '../store/home.ts'
import { labelsOf, type Labels } from '../tape/labels.ts'

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
export function checkSwitches(flags: RunFlags, env: NodeJS.ProcessEnv): void {
  const { record, replay, vault } = flags
  if ((record === undefined) === (replay === undefined)) throw eitherOr()
  const labels = Object.keys(labelsAsEnv(labelsIn(flags)))
  if (replay !== undefined && labels.length > 0) throw nothingToLabel()
  if (replay !== undefined && vault !== undefined) throw nothingToKeep()
  const path = resolveTape(record ?? replay ?? '', env)
  if (replay === undefined || existsSync(path)) return
  throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
    hint: `record it first: reelay run --record ${replay} -- <command>`,
  })
}

/** The environment in which every Node program records or replays. Switches from outside give way to those of the command line. */
export function switchedEnv(flags: RunFlags, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
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
    ...labelsAsEnv(labelsIn(flags)),
    NODE_OPTIONS: [env['NODE_OPTIONS'], `--import=${AUTO}`].filter(Boolean).join(' '),
  }
}

/** They travel in one variable, with commas between. */
function labelsIn({ tag = [], ...flags }: RunFlags): Labels {
  const tags = tag.map((text) => readTag('--tag', text))
  if (tag.some((text) => text.includes(',')))
    throw new ReelayError('USAGE', 'a tag of a run has no comma in it', { hint: 'give several --tag' })
  return labelsOf({ ...flags, tags: Object.fromEntries(tags) })
}

const AUTO = new URL('../auto/index.js', import.meta.url).href

function nothingToLabel(): ReelayError {
  const hint = 'leave out --session, --endpoint, --agent, --note and --tag, or record'
  return new ReelayError('USAGE', 'a replay makes no tape that could be labelled', { hint })
}

function nothingToKeep(): ReelayError {
  const hint = 'leave out --vault, or record'
  return new ReelayError('USAGE', 'a replay writes no vault', { hint })
}

function eitherOr(): ReelayError {
  const hint = 'as in: reelay run --record my-tape -- node app.js'
  return new ReelayError('USAGE', 'give either --record <tape> or --replay <tape>', { hint })
}
