import type { ReplayTarget } from '../../src/replay/options.ts'
import { classifyMessage, type Message } from '../../src/protocol/message.ts'

export interface LiveServer {
  readonly target: ReplayTarget
  /** What it was sent after the handshake, in order. */
  readonly heard: Message[]
}

/** What a server says to a message: members of a response, several texts as they are, or nothing. */
export type Reply = { readonly result: unknown } | { readonly error: unknown } | undefined

/** A live server within the test: greets by itself, and answers everything else as it is told. */
export function liveServer(
  reply: (message: Message) => Reply | Promise<Reply>,
  opening: object = OPENING,
): LiveServer {
  const heard: Message[] = []
  const target: ReplayTarget = {
    name: 'a server of the test',
    open: async ({ onText }) => ({
      send: (text) => void answer(text, onText),
      close: async () => {},
    }),
  }
  const answer = async (text: string, onText: (text: string) => void): Promise<void> => {
    const message = classifyMessage(JSON.parse(text))
    const own = ownReply(message, opening)
    if (own === undefined) heard.push(message)
    const outcome = own ?? (await reply(message))
    if (outcome === undefined || message.kind !== 'request') return
    onText(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome }))
  }
  return { target, heard }
}

const TOOLS = ['search', 'count'].map((name) => ({ name, annotations: { readOnlyHint: true } }))

const OPENING = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {}, resources: {}, prompts: {} },
  serverInfo: { name: 'recorded-server', version: '1' },
}

/** To our own handshake, and to the question for tools that comes with it. */
function ownReply(message: Message, opening: object): Reply {
  if (message.kind === 'notification' && message.method === 'notifications/initialized')
    return { result: undefined }
  if (message.kind !== 'request' || !String(message.id).startsWith('__')) return undefined
  return { result: message.method === 'tools/list' ? { tools: TOOLS } : opening }
}
