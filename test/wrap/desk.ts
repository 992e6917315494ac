import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { UserEnvironment } from '../../src/wrap/clients/client.ts'
import { unwrapServers, wrapServers } from '../../src/wrap/wrap.ts'
import type { WrapResult } from '../../src/wrap/wrap-result.ts'
import type { ServerSelection } from '../../src/wrap/change-configs.ts'

export const RECORDER = { node: '/opt/node/bin/node', program: '/opt/reelay/dist/cli/main.js' }

/** A user's home and project in a folder of their own, and what the user can do there. */
export interface Desk {
  readonly where: UserEnvironment
  readonly write: (path: string, text: string) => string
  readonly read: (path: string) => string
  readonly wrap: (servers: ServerSelection, options?: Options) => WrapResult
  readonly unwrap: (servers: ServerSelection, options?: Options) => WrapResult
}

interface Options {
  readonly client?: string
  readonly file?: string
  readonly dryRun?: boolean
}

export function deskIn(folder: string, platform: NodeJS.Platform = 'linux'): Desk {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'project')]
  for (const each of [home, cwd]) mkdirSync(each, { recursive: true })
  const where = { platform, home, cwd, env: { REELAY_HOME: join(folder, 'reelay') } }
  const path = (name: string): string => join(folder, name)
  return {
    where,
    write(name, text) {
      mkdirSync(dirname(path(name)), { recursive: true })
      writeFileSync(path(name), text)
      return path(name)
    },
    read: (name) => readFileSync(path(name), 'utf8'),
    wrap: (servers, { dryRun = false, ...options } = {}) =>
      wrapServers({ servers, where, dryRun, recorder: RECORDER, now: () => new Date(0), ...options }),
    unwrap: (servers, { dryRun = false, ...options } = {}) =>
      unwrapServers({ servers, where, dryRun, ...options }),
  }
}
