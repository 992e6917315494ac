import { Client as ClientV2, type ClientOptions as OptionsV2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

export type Sdk = 'v1' | 'v2'
export const SDKS: readonly Sdk[] = ['v1', 'v2']

export type AnyClient = ClientV1 | ClientV2
export type AnyStdio = StdioV1 | StdioV2

/** What the client says when the server asks it for something. */
export interface Answers {
  readonly root: string
  readonly elicited: Record<string, string | boolean>
}

export interface ClientSettings {
  readonly answers: Answers
  /** SDK v2 only: by default it speaks the legacy era and probes for nothing. */
  readonly versionNegotiation?: NonNullable<OptionsV2['versionNegotiation']>
}

const INFO = { name: 'interop', version: '1' }
const CAPABILITIES = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
}

/** A client that can be asked for roots, samples and input. */
export function clientOf(sdk: Sdk, settings: ClientSettings): AnyClient {
  return sdk === 'v1' ? clientV1(settings) : clientV2(settings)
}

export function stdioOf(
  sdk: Sdk,
  [command = '', ...args]: readonly string[],
  env: Record<string, string>,
): AnyStdio {
  const server = { command, args, env, stderr: 'pipe' as const }
  return sdk === 'v1' ? new StdioV1(server) : new StdioV2(server)
}

/** The one call that the two SDKs spell differently. */
export async function callTool(
  client: AnyClient,
  name: string,
  args: Record<string, unknown> = {},
  options: { readonly onprogress?: (progress: object) => void; readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  const params = { name, arguments: args }
  return client instanceof ClientV1
    ? client.callTool(params, undefined, options)
    : client.callTool(params, options)
}

function clientV1({ answers }: ClientSettings): ClientV1 {
  const client = new ClientV1(INFO, { capabilities: CAPABILITIES })
  client.setRequestHandler(ListRootsRequestSchema, () => rootsOf(answers))
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLE)
  client.setRequestHandler(ElicitRequestSchema, () => inputOf(answers))
  return client
}

function clientV2({ answers, versionNegotiation }: ClientSettings): ClientV2 {
  const client = new ClientV2(INFO, {
    capabilities: CAPABILITIES,
    ...(versionNegotiation && { versionNegotiation }),
  })
  client.setRequestHandler('roots/list', () => rootsOf(answers))
  client.setRequestHandler('sampling/createMessage', () => SAMPLE)
  client.setRequestHandler('elicitation/create', () => inputOf(answers))
  return client
}

const SAMPLE = {
  model: 'a-model',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'a sample' },
}

function rootsOf({ root }: Answers): { roots: { uri: string; name: string }[] } {
  return { roots: [{ uri: root, name: 'a root' }] }
}

function inputOf({ elicited }: Answers): { action: 'accept'; content: Record<string, string | boolean> } {
  return { action: 'accept', content: elicited }
}
