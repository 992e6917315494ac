import { callTool } from '../support/sdk.ts'
import type { SdkSession } from '../support/sdk-session.ts'
import { outcomeOf, type Results } from './account.ts'

/** All that `modern.mjs` can do, in whichever era the client speaks. */
export async function dualEraSession({ client, hears }: SdkSession): Promise<Results> {
  const progress: object[] = []
  const onprogress = (step: object): void => void progress.push(step)
  const steady = [
    await client.listTools(),
    await Promise.all([
      callTool(client, 'count', { to: 3 }, { onprogress }),
      callTool(client, 'add', { a: 1, b: 2 }),
      callTool(client, 'add', { a: 3, b: 4 }),
    ]),
    await callTool(client, 'deploy', { env: 'production' }),
    await outcomeOf(callTool(client, 'no-such-tool')),
    await callTool(client, 'learn', { name: 'sing' }),
    await hears('notifications/tools/list_changed'),
    await client.listTools(),
    await callTool(client, 'sing'),
  ]
  return { steady, fresh: undefined, progress }
}
