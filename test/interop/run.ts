import { resolve } from 'node:path'
import { REELAY } from '../support/recorder.ts'
import { httpOf, type HttpKind } from '../support/http-servers.ts'
import { clientOf, type ClientSettings, type Sdk } from '../support/sdk.ts'
import { connect, connectStdio, type SdkSession, type Target } from '../support/sdk-session.ts'
import { accountOf, progressTokens, type Account, type Results } from './account.ts'

/** What came of a session, as its client saw it. */
export interface Judged {
  readonly account: Account
  readonly progressTokens: readonly unknown[]
  /** Complaints of the SDK, but for the progress that it lost. */
  readonly errors: readonly string[]
  /** Progress that reached the caller, and progress that the SDK admits to have lost. */
  readonly progressKnown: number
}

/** One session from beginning to end, and the end of the process behind it. */
export interface Run extends Judged {
  readonly code: number | null
  readonly signal: string | null
  readonly stderr: string
}

export type Session = (session: SdkSession) => Promise<Results>

export async function run(target: Target, session: Session): Promise<Run> {
  const connected = await connectStdio(target)
  const results = await session(connected).catch(async (error: unknown) => {
    await connected.close()
    throw error
  })
  return { ...judge(connected, results), ...(await connected.close()) }
}

export interface HttpTarget extends ClientSettings {
  readonly sdk: Sdk
  readonly kind: HttpKind
  readonly url: string
}

/** The same with a client over HTTP. */
export async function httpRun(
  { sdk, kind, url, ...settings }: HttpTarget,
  session: Session,
): Promise<Judged> {
  const connected = await connect(clientOf(sdk, settings), httpOf(sdk, kind, url))
  try {
    return judge(connected, await session(connected))
  } finally {
    await connected.client.close()
  }
}

// Both SDKs lose progress that they read in one chunk with the answer, and say so.
const LOST = 'progress notification for an unknown token'

export function judge(session: SdkSession, results: Results): Judged {
  return {
    account: accountOf(session, results),
    progressTokens: progressTokens(session.received),
    errors: session.errors.filter((error) => !error.includes(LOST)),
    progressKnown: results.progress.length + session.errors.filter((error) => error.includes(LOST)).length,
  }
}

export function recorded(tape: string, server: readonly string[]): readonly string[] {
  return [process.execPath, REELAY, 'record', '--numbered', '-o', tape, '--', ...server]
}

/** A server that would start a process or open a socket ends with exit code 99. */
export function served(tape: string): readonly string[] {
  return [
    process.execPath,
    '--require',
    resolve('test/fixtures/preload/no-outside.cjs'),
    REELAY,
    'serve',
    tape,
  ]
}
