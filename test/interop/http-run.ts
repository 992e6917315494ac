import { httpOf, type HttpKind } from '../support/http-servers.ts'
import { callTool, clientOf, type ClientSettings, type Sdk } from '../support/sdk.ts'
import { connect, type SdkSession } from '../support/sdk-session.ts'
import { judge, type Judged, type Session } from './run.ts'

/** One session over HTTP from beginning to end. */
export async function httpRun(
  sdk: Sdk,
  kind: HttpKind,
  url: string,
  settings: ClientSettings,
  session: Session,
): Promise<Judged> {
  const connected = await connect(clientOf(sdk, settings), httpOf(sdk, kind, url))
  try {
    return judge(connected, await session(connected))
  } finally {
    await connected.client.close()
  }
}

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
