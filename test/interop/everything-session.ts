import { callTool, type AnyClient } from '../support/sdk.ts'
import type { SdkSession } from '../support/sdk-session.ts'
import { outcomeOf, type Results } from './account.ts'

/** A tour of server-everything: all it lists, calls at once and in a row, what it asks the client, and what it refuses. */
export async function everythingSession({ client, hears }: SdkSession): Promise<Results> {
  await hears('Roots updated') // it asks for the roots a moment after the handshake
  const listed = await lists(client)
  const level = await client.setLoggingLevel('debug')
  const progress: object[] = []
  const atOnce = await callsAtOnce(client, (step) => progress.push(step))
  const samples = [
    await callTool(client, 'trigger-sampling-request', { prompt: 'say something', maxTokens: 10 }),
    await callTool(client, 'trigger-elicitation-request'),
    await callTool(client, 'get-roots-list'),
  ]
  const resources = await readsAndSubscriptions(client)
  const completions = await Promise.all([complete(client, 'S'), complete(client, 'E')])
  const refusals = await refused(client)
  const fresh = await madeUpNow(client)
  return {
    steady: { listed, level, atOnce, samples, resources, completions, refusals, ping: await client.ping() },
    fresh,
    progress,
  }
}

async function lists(client: AnyClient): Promise<unknown> {
  const tools = await client.listTools()
  return [
    tools,
    await client.listResources(),
    await client.listResourceTemplates(),
    await client.listPrompts(),
  ]
}

/** The first to be sent is the last to be answered. */
async function callsAtOnce(client: AnyClient, onprogress: (step: object) => void): Promise<unknown> {
  return Promise.all([
    callTool(client, 'trigger-long-running-operation', { duration: 0.2, steps: 4 }, { onprogress }),
    callTool(client, 'get-sum', { a: 2, b: 40.5 }),
    callTool(client, 'echo', { message: 'žluťoučký 🐎' }),
    callTool(client, 'echo', { message: 'again' }),
    callTool(client, 'get-structured-content', { location: 'Chicago' }),
    callTool(client, 'get-annotated-message', { messageType: 'error', includeImage: true }),
    callTool(client, 'get-env'),
    client.getPrompt({ name: 'args-prompt', arguments: { city: 'Ostrava' } }),
  ])
}

async function readsAndSubscriptions(client: AnyClient): Promise<unknown> {
  const [document] = (await client.listResources()).resources
  const uri = document?.uri ?? ''
  const data = 'data:text/plain,hello'
  return [
    await client.readResource({ uri }),
    await client.subscribeResource({ uri }),
    await callTool(client, 'toggle-subscriber-updates'),
    await callTool(client, 'toggle-subscriber-updates'),
    await client.unsubscribeResource({ uri }),
    await callTool(client, 'gzip-file-as-resource', { name: 'hello.gz', data }),
    await client.readResource({ uri: 'demo://resource/session/hello.gz' }),
  ]
}

async function complete(client: AnyClient, value: string): Promise<unknown> {
  return client.complete({
    ref: { type: 'ref/prompt', name: 'completable-prompt' },
    argument: { name: 'department', value },
  })
}

async function refused(client: AnyClient): Promise<unknown> {
  return [
    await outcomeOf(callTool(client, 'no-such-tool')),
    await outcomeOf(callTool(client, 'get-sum', { a: 'one' })),
    await outcomeOf(client.getPrompt({ name: 'no-such-prompt' })),
    await outcomeOf(client.readResource({ uri: 'demo://no-such-resource' })),
  ]
}

async function madeUpNow(client: AnyClient): Promise<unknown> {
  const url = { url: 'https://example.com/sign-in', errorPath: true }
  return [
    await client.readResource({ uri: 'demo://resource/dynamic/text/7' }),
    await outcomeOf(callTool(client, 'trigger-url-elicitation', url)),
    await callTool(client, 'toggle-simulated-logging'),
    await callTool(client, 'toggle-simulated-logging'),
  ]
}
