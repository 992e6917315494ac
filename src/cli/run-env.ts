import { existsSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { resolveTape } from '../store/home.ts'

export interface RunFlags {
  readonly record?: string
  readonly replay?: string
  readonly server?: string
}

/** Says before the program runs what could not work. */
export function checkSwitches({ record, replay }: RunFlags, env: NodeJS.ProcessEnv): void {
  if ((record === undefined) === (replay === undefined)) throw eitherOr()
  const path = resolveTape(record ?? replay ?? '', env)
  if (replay === undefined || existsSync(path)) return
  throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
    hint: `record it first: reelay run --record ${replay} -- <command>`,
  })
}

/** The environment in which every Node program records or replays. Switches from outside give way to those of the command line. */
export function switchedEnv({ record, replay, server }: RunFlags, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const mode = record === undefined ? 'REELAY_REPLAY' : 'REELAY_RECORD'
  const cleared = Object.entries(env).filter(([name]) => !/^REELAY_(RECORD|REPLAY)(_SERVER)?$/.test(name))
  return {
    ...Object.fromEntries(cleared),
    // A path, because the program may run in another folder.
    [mode]: resolveTape(record ?? replay ?? '', env),
    ...(server !== undefined && { [`${mode}_SERVER`]: server }),
    NODE_OPTIONS: [env['NODE_OPTIONS'], `--import=${AUTO}`].filter(Boolean).join(' '),
  }
}

const AUTO = new URL('../auto/index.js', import.meta.url).href

function eitherOr(): ReelayError {
  const hint = 'as in: reelay run --record my-tape -- node app.js'
  return new ReelayError('USAGE', 'give either --record <tape> or --replay <tape>', { hint })
}
