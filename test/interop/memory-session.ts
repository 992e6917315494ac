import { callTool } from '../support/sdk.ts'
import type { SdkSession } from '../support/sdk-session.ts'
import { outcomeOf, type Results } from './account.ts'

const GRAPH = 'memory://knowledge-graph'

/** Builds a small graph under the eyes of a subscription, so that equal questions get other answers as it grows. */
export async function memorySession({ client }: SdkSession): Promise<Results> {
  const call = (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    callTool(client, name, args)
  const ada = { name: 'Ada', entityType: 'person', observations: ['likes engines'] }
  const engine = { name: 'Engine', entityType: 'machine', observations: [] }
  const steady = [
    await client.listTools(),
    await client.listResources(),
    await client.subscribeResource({ uri: GRAPH }),
    await call('read_graph'),
    await call('create_entities', { entities: [ada, engine] }),
    await call('read_graph'),
    await call('create_relations', { relations: [{ from: 'Ada', to: 'Engine', relationType: 'programs' }] }),
    await call('add_observations', {
      observations: [{ entityName: 'Ada', contents: ['was born in London'] }],
    }),
    await Promise.all([
      call('read_graph'),
      call('search_nodes', { query: 'london' }),
      call('open_nodes', { names: ['Engine'] }),
      client.readResource({ uri: GRAPH }),
    ]),
    await outcomeOf(call('add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] })),
    await call('delete_entities', { entityNames: ['Engine'] }),
    await call('read_graph'),
    await client.unsubscribeResource({ uri: GRAPH }),
    await client.readResource({ uri: GRAPH }),
    await client.ping(),
  ]
  return { steady, fresh: undefined, progress: [] }
}
