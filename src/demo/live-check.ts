import { execFile } from 'node:child_process'
import { member } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/** What `reelay verify` found out about a live server. */
export interface DemoVerification {
  readonly exitCode: number
  readonly stderr: string
  /** Requests that were sent. */
  readonly sent: unknown
  /** Places at which the server says something else each time. */
  readonly noise: readonly unknown[]
}

/** Runs a `reelay verify … --json` to its end. */
export function runVerify(
  [file, ...args]: readonly [string, ...string[]],
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<DemoVerification> {
  return new Promise((resolve) => {
    const child = execFile(file, args, options, (_error, stdout, stderr) => {
      const report = parseJson(stdout)
      const noise = member(report, 'noise')
      resolve({
        exitCode: child.exitCode ?? 1,
        stderr,
        sent: member(member(report, 'summary'), 'sent'),
        noise: Array.isArray(noise) ? noise : [],
      })
    })
  })
}
