import { createHash } from 'node:crypto'
import { canonicalJson } from '../../json/canonical.ts'
import { JsonNode } from '../../json/node.ts'
import { removeMembers } from '../../json/find-replace.ts'
import { isObject, jsonOnOneLine, member, parseJson, type JsonObject } from '../../json/parse.ts'
import type { RecordedMessage, Turn } from '../../tape/turns.ts'
import { quoteShellWord } from '../../text.ts'
import { type ExportFormat, type ExportedTape, framesToWrite, isoTime, type Losses } from './export-format.ts'
import { serverOf } from './message-files.ts'

/* Formats with one entry per request and its response. */

/** Agent VCR. Its TypeScript loader wants times in UTC, and error data that is an object. */
export const agentVcrExport: ExportFormat = {
  name: 'agent-vcr',
  description: '.vcr file of Agent VCR, for its Python and TypeScript versions',
  extension: '.vcr',
  holdsOneServer: true,
  write: (tape, losses) => {
    framesToWrite(tape, losses, {
      timing: true,
      labels: ['session', 'endpoint', 'agent', 'tags'],
      server: true,
    })
    losses.note('overlap of calls at the same time')
    const opening = tape.turns.find(isOpening)
    const writer = new VcrInteractions(tape, losses)
    for (const turn of tape.turns) if (turn !== opening) writer.addTurn(turn)
    if (opening !== undefined) writer.addOpening(opening)
    const { request, response } = openingOf(opening)
    const capabilities = member(member(parseJson(response), 'result'), 'capabilities') ?? {}
    return `{"format_version":"1.0.0","metadata":${JSON.stringify(vcrMetadata(tape, response, request))},"session":{"initialize_request":${request},"initialize_response":${response},"capabilities":${JSON.stringify(capabilities)},"interactions":[\n${writer.lines.join(',\n')}\n]}}\n`
  },
}

function isOpening({ trigger }: Turn): boolean {
  return trigger?.message.kind === 'request' && trigger.message.method === 'initialize'
}

/** A session without a handshake gets the one that Agent VCR writes itself for an empty recording. */
function openingOf(opening: Turn | undefined): { readonly request: string; readonly response: string } {
  const request = opening?.trigger?.text ?? NO_REQUEST
  const id = JsonNode.parse(request)?.get('id')?.text ?? '0'
  return {
    request: jsonOnOneLine(request),
    response: jsonOnOneLine(opening?.response?.text ?? `{"jsonrpc":"2.0","id":${id},"result":${NO_RESULT}}`),
  }
}

const NO_REQUEST =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"unknown","version":"0"}}}'
const NO_RESULT =
  '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"unknown","version":"0"}}'

function vcrMetadata(tape: ExportedTape, response: string, request: string): JsonObject {
  const { header } = tape
  const [{ command = [], transport }] = serverOf(tape)
  const [first, ...args] = command
  return {
    version: '1.0.0',
    recorded_at: isoTime(header, 0),
    transport: transport === 'http' || transport === 'sse' ? 'sse' : 'stdio',
    client_info: infoOf(member(member(parseJson(request), 'params'), 'clientInfo')),
    server_info: infoOf(member(member(parseJson(response), 'result'), 'serverInfo')),
    ...(first !== undefined && { server_command: quoteShellWord(first) }),
    server_args: args,
    tags: header.tags,
    ...(header.session !== undefined && { session_id: header.session }),
    ...(header.endpoint !== undefined && { endpoint_id: header.endpoint }),
    ...(header.agent !== undefined && { agent_id: header.agent }),
  }
}

function infoOf(value: unknown): JsonObject {
  return isObject(value) ? value : { name: 'unknown', version: '0' }
}

/** Collects the interactions of a `.vcr` file. */
class VcrInteractions {
  readonly lines: string[] = []
  readonly #tape: ExportedTape
  readonly #losses: Losses

  constructor(tape: ExportedTape, losses: Losses) {
    this.#tape = tape
    this.#losses = losses
  }

  addTurn({ trigger, steps, response }: Turn): void {
    if (trigger?.message.kind === 'notification') this.#losses.count('notifications of the client')
    const notifications = steps.flatMap((step) => (step.kind === 'notify' ? [step.message] : []))
    for (const step of steps) if (step.kind === 'ask') this.#addAsk(step.request, step.answer)
    if (trigger?.message.kind !== 'request')
      return this.#losses.count('notifications outside of a request', notifications.length)
    this.#add('client_to_server', trigger, response, notifications)
  }

  /** The handshake has a place of its own, without notifications. */
  addOpening({ steps }: Turn): void {
    this.#losses.count('messages within the handshake', steps.filter(({ kind }) => kind !== 'respond').length)
  }

  #addAsk(request: RecordedMessage, answer: RecordedMessage | undefined): void {
    this.#losses.count('positions of requests of the server')
    this.#add('server_to_client', request, answer, [])
  }

  #add(
    direction: string,
    request: RecordedMessage,
    response: RecordedMessage | undefined,
    notifications: readonly RecordedMessage[],
  ): void {
    const { header } = this.#tape
    const end = response?.t ?? request.t
    const answer = response === undefined ? 'null' : this.#responseText(response.text)
    const sent = notifications.map(({ text }) => jsonOnOneLine(text)).join(',')
    this.lines.push(
      `{"sequence":${this.lines.length},"timestamp":"${isoTime(header, end)}","direction":"${direction}","request":${jsonOnOneLine(request.text)},"response":${answer},"notifications":[${sent}],"latency_ms":${end - request.t}}`,
    )
  }

  #responseText(text: string): string {
    const error = JsonNode.parse(text)?.get('error')
    const data = error?.get('data')
    if (error === undefined || data === undefined || data.isObject) return jsonOnOneLine(text)
    this.#losses.count('data members of errors')
    return jsonOnOneLine(text.replace(error.text, () => removeMembers(error.text, ['data'])))
  }
}

/** Shadow. Calls with text results become records of their own; everything else stands in the metadata, as its replay index reads it. */
export const shadowExport: ExportFormat = {
  name: 'shadow',
  description: '.agentlog of Shadow, as its replay index reads it',
  extension: '.agentlog',
  holdsOneServer: true,
  write: (tape, losses) => {
    framesToWrite(tape, losses, { timing: true })
    losses.note('ids of messages')
    losses.note('order of messages other than tool calls')
    const log = new AgentLog(tape)
    const calls: JsonObject[] = []
    const tools: (readonly [Turn, CallParts])[] = []
    for (const turn of tape.turns) {
      const parts = callParts(turn)
      if (parts !== undefined) tools.push([turn, parts])
      else calls.push(...mcpCalls(turn, losses))
      losses.count('requests of the server', turn.steps.filter(({ kind }) => kind === 'ask').length)
      if (parts !== undefined)
        calls.push(
          ...turn.steps.flatMap((step) => (step.kind === 'notify' ? [notificationCall(step.message)] : [])),
        )
    }
    log.add('metadata', 0, {
      sdk: { name: 'reelay', version: tape.header.by.replace(/^reelay /, '') },
      source: { format: 'mcp' },
      mcp: { calls },
    })
    for (const [turn, parts] of tools) log.addCall(turn, parts)
    return log.lines.map((line) => `${line}\n`).join('')
  },
}

interface CallParts {
  readonly name: string
  readonly input: unknown
  readonly content: unknown
  readonly isError: boolean
}

/** A tool call whose result is only content. Others would lose a part as a record. */
function callParts({ trigger, response }: Turn): CallParts | undefined {
  if (trigger?.message.kind !== 'request' || trigger.message.method !== 'tools/call') return undefined
  const { params } = trigger.message
  const [name, input] = [member(params, 'name'), member(params, 'arguments')]
  const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
  const result = outcome !== undefined && 'result' in outcome ? outcome.result : undefined
  const isPlain =
    isObject(result) &&
    Array.isArray(result['content']) &&
    Object.keys(result).every(
      (key) => key === 'content' || (key === 'isError' && result['isError'] === true),
    ) &&
    Object.keys(isObject(params) ? params : {}).every((key) => key === 'name' || key === 'arguments')
  if (!isPlain || typeof name !== 'string' || !isObject(input)) return undefined
  return { name, input, content: result['content'], isError: result['isError'] === true }
}

function mcpCalls({ trigger, response, steps }: Turn, losses: Losses): readonly JsonObject[] {
  const notified = steps.flatMap((step) => (step.kind === 'notify' ? [notificationCall(step.message)] : []))
  if (trigger?.message.kind === 'notification') return [notificationCall(trigger), ...notified]
  if (trigger?.message.kind !== 'request') return notified
  const { method, params } = trigger.message
  if (response?.message.kind !== 'response') {
    losses.count('requests without a response')
    return notified
  }
  return [{ method, ...(params !== undefined && { params }), ...response.message.outcome }, ...notified]
}

function notificationCall({ message }: RecordedMessage): JsonObject {
  if (message.kind !== 'notification') return {}
  return {
    method: message.method,
    ...(message.params !== undefined && { params: message.params }),
    notification: true,
  }
}

/** Records whose ids are the hashes of their payloads, each with the id of the one before. */
class AgentLog {
  readonly lines: string[] = []
  readonly #tape: ExportedTape
  #parent: string | null = null
  #time = 0

  constructor(tape: ExportedTape) {
    this.#tape = tape
  }

  addCall({ trigger, response }: Turn, { name, input, content, isError }: CallParts): void {
    const id = `call_${trigger?.n ?? 0}`
    this.add('tool_call', trigger?.t ?? 0, { tool_name: name, tool_call_id: id, arguments: input })
    const latency = (response?.t ?? 0) - (trigger?.t ?? 0)
    this.add('tool_result', response?.t ?? 0, {
      tool_call_id: id,
      output: content,
      is_error: isError,
      latency_ms: Math.max(0, Math.round(latency)),
    })
  }

  add(kind: string, t: number, payload: JsonObject): void {
    this.#time = Math.max(this.#time, t) // the times of a log never go back
    const id = `sha256:${createHash('sha256').update(canonicalJson(payload)).digest('hex')}`
    const ts = isoTime(this.#tape.header, this.#time)
    this.lines.push(JSON.stringify({ version: '0.1', id, kind, ts, parent: this.#parent, payload }))
    this.#parent = id
  }
}
