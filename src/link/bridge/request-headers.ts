import { member, type Message, type Request } from '../../protocol/message.ts'
import { revisionOfRequest } from '../../protocol/revisions/index.ts'

/** What a session over HTTP has agreed on so far: learnt from the answers that pass by, and told in the headers of what follows. */
export class NegotiatedSession {
  readonly #params = new ToolParamHeaders()
  #state: NegotiatedState = { session: undefined, version: undefined }

  get state(): NegotiatedState {
    return this.#state
  }

  headersFor(message: Message): readonly string[] {
    return headersForMessage(message, this.#state, this.#params)
  }

  begin(session: string): void {
    this.#state = { ...this.#state, session }
  }

  end(): void {
    this.#state = { ...this.#state, session: undefined }
  }

  learn({ method }: Request, result: unknown): void {
    const version = member(result, 'protocolVersion')
    if (method === 'initialize' && typeof version === 'string') this.#state = { ...this.#state, version }
    if (method === 'tools/list') this.#params.learn(result)
  }
}

/** What a session over HTTP has agreed on. */
export interface NegotiatedState {
  readonly session: string | undefined
  readonly version: string | undefined
}

const JSON_OR_EVENTS = 'application/json, text/event-stream'

/** The headers of a POST over Streamable HTTP. */
export function headersForMessage(
  message: Message,
  agreed: NegotiatedState,
  tools: ToolParamHeaders,
): readonly string[] {
  const common = ['Content-Type', 'application/json', 'Accept', JSON_OR_EVENTS, 'Accept-Encoding', 'identity']
  if (!('method' in message)) return [...common, ...sessionHeaders(agreed)]
  const context = { sessionHeaders: sessionHeaderRecord(agreed), inputSchemaOf: tools.inputSchemaOf }
  const own = revisionOfRequest(message.params).postHeaders(message, context)
  return [...common, ...Object.entries(own).flat()]
}

/** The headers of a request that carries no message. */
export function streamHeaders(agreed: NegotiatedState): readonly string[] {
  return ['Accept', 'text/event-stream', 'Accept-Encoding', 'identity', ...sessionHeaders(agreed)]
}

export function sessionHeaders(agreed: NegotiatedState): readonly string[] {
  return Object.entries(sessionHeaderRecord(agreed)).flat()
}

function sessionHeaderRecord({ session, version }: NegotiatedState): Readonly<Record<string, string>> {
  return {
    ...(session !== undefined && { 'Mcp-Session-Id': session }),
    ...(version !== undefined && { 'MCP-Protocol-Version': version }),
  }
}

/** The input schemas of tools, from the results of `tools/list`. They name the arguments that headers repeat. */
export class ToolParamHeaders {
  readonly #schemas = new Map<string, unknown>()

  readonly inputSchemaOf = (tool: string): unknown => this.#schemas.get(tool)

  learn(result: unknown): void {
    const tools = member(result, 'tools')
    for (const tool of Array.isArray(tools) ? (tools as readonly unknown[]) : []) {
      const name = member(tool, 'name')
      if (typeof name === 'string') this.#schemas.set(name, member(tool, 'inputSchema'))
    }
  }
}
