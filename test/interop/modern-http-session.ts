import { callTool } from '../support/sdk.ts'
import type { SdkSession } from '../support/sdk-session.ts'
import type { Judged, Session } from './run.ts'

/** All that `modern-http.mjs` can do. */
export async function modernSession({ client }: SdkSession): ReturnType<Session> {
  const progress: object[] = []
  const steady = [
    await client.listTools(),
    await callTool(client, 'add', { a: 1, b: 2 }),
    await callTool(client, 'count', { to: 3 }, { onprogress: (step) => progress.push(step) }),
    await callTool(client, 'deploy', { env: 'prod' }),
    await Promise.all([1, 2, 3].map((a) => callTool(client, 'add', { a, b: 1 }))),
  ]
  return { steady, fresh: undefined, progress }
}

/** What does not change from run to run: the server puts the id of the session into its texts. */
export function steadyPart({ account: { server, steady, asked, progress } }: Judged): unknown {
  const text = JSON.stringify({ server, steady, asked, progress: progress.length })
  return JSON.parse(text.replaceAll(/session [0-9a-f-]{36}/g, 'session <id>'))
}
