import { Client, type SubscriptionFilter } from '@modelcontextprotocol/client'
import type { SdkSession } from '../support/sdk-session.ts'
import type { Results } from './account.ts'
import { dualEraSession } from './dual-era-session.ts'

/** All that `modern.mjs` can do in the modern era, with subscriptions open all the while. */
export async function modernSession(
  session: SdkSession,
  filters: readonly SubscriptionFilter[],
): Promise<Results> {
  const client = v2(session)
  const subscriptions = []
  for (const filter of filters) subscriptions.push(await client.listen(filter))
  const { steady, ...rest } = await dualEraSession(session)
  for (const subscription of subscriptions) await subscription.close()
  return { steady: [client.getProtocolEra(), client.getNegotiatedProtocolVersion(), steady], ...rest }
}

export function v2({ client }: SdkSession): Client {
  if (client instanceof Client) return client
  throw new Error('only SDK v2 speaks the modern era')
}
