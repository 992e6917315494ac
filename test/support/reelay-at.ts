import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { UserEnvironment } from '../../src/wrap/clients/client.ts'
import { REELAY } from './recorder.ts'

interface Said {
  readonly stdout: string
  readonly stderr: string
  readonly code: number
}

/** The program, run by a user whose home and project lie in one folder. */
export interface User {
  readonly where: UserEnvironment
  readonly reelay: (...args: string[]) => Promise<Said>
}

export function userIn(folder: string): User {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'project')]
  for (const each of [home, cwd]) mkdirSync(each, { recursive: true })
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    USERPROFILE: home,
    REELAY_HOME: join(folder, 'reelay'),
  }
  return {
    where: { platform: process.platform, home, cwd, env },
    reelay: (...args) =>
      new Promise((resolve) => {
        execFile(process.execPath, [REELAY, ...args], { env, cwd }, (error, stdout, stderr) => {
          const code = typeof error?.code === 'number' ? error.code : 0
          resolve({
            stdout: stdout.replaceAll(folder, '<folder>'),
            stderr: stderr.replaceAll(folder, '<folder>'),
            code,
          })
        })
      }),
  }
}
