import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { text as readText } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { DemoPeer, type DemoOutcome } from './peer.ts'
import { member } from '../json/parse.ts'
import type { Notification, Request } from '../protocol/message.ts'

export interface DemoToolCall {
  readonly tool: string
  readonly args: Readonly<Record<string, string>>
}

interface DemoSessionOptions {
  /** The server command, as a client's config would name it. */
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly calls: readonly DemoToolCall[]
  readonly firstId: number
  readonly signal: AbortSignal
}

/** What the server sent, without the ids and progress tokens that the client chose. */
interface DemoSessionMessages {
  readonly server: DemoOutcome | undefined
  readonly list: DemoOutcome | undefined
  /** In the order of the calls, although they run concurrently. */
  readonly answers: readonly (DemoOutcome | undefined)[]
  readonly progress: readonly string[]
  readonly questions: readonly string[]
}

export interface DemoSession {
  readonly received: DemoSessionMessages
  readonly stderr: string
  readonly exitCode: number | null
}

/** Runs a whole MCP session with a stdio server: handshake, list, all calls at once, end of input. */
export async function runDemoSession({
  command,
  cwd,
  calls,
  firstId,
  signal,
}: DemoSessionOptions): Promise<DemoSession> {
  const [file, ...args] = command
  const env = { ...process.env, REELAY_HOME: cwd } // files that Reelay creates on first use are deleted with the folder
  const child = spawn(file, args, { cwd, env, stdio: 'pipe', signal })
  const ended = waitForExit(child)
  const stderr = readText(child.stderr)
  const received = await runConversation(child, calls, firstId)
  child.stdin.end()
  return { received, exitCode: await ended, stderr: await stderr }
}

function waitForExit(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
}

async function runConversation(
  child: ChildProcessWithoutNullStreams,
  calls: readonly DemoToolCall[],
  firstId: number,
): Promise<DemoSessionMessages> {
  const progress: string[] = []
  const questions: string[] = []
  const peer = new DemoPeer({
    input: child.stdout,
    output: child.stdin,
    firstId,
    onRequest: (request) => answerElicitation(request, questions),
    onNotification: (notification) => collectProgress(notification, progress),
  })
  const server = await peer.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'reelay-demo-client', version: '1.0.0' },
  })
  peer.notify('notifications/initialized')
  const list = await peer.request('tools/list', {})
  const answers = await Promise.all(calls.map((call, index) => callTool(peer, call, firstId + index)))
  return { server, list, answers, progress, questions }
}

function callTool(
  peer: DemoPeer,
  { tool, args }: DemoToolCall,
  progressToken: number,
): Promise<DemoOutcome | undefined> {
  return peer.request('tools/call', { name: tool, arguments: args, _meta: { progressToken } })
}

function answerElicitation(request: Request, questions: string[]): DemoOutcome {
  if (request.method !== 'elicitation/create')
    return { error: { code: -32601, message: `Method not found: ${request.method}` } }
  questions.push(String(member(request.params, 'message')))
  return { result: { action: 'accept', content: { choice: 'train' } } }
}

function collectProgress({ method, params }: Notification, progress: string[]): void {
  if (method === 'notifications/progress') progress.push(String(member(params, 'message')))
}

/** Returns the text of a tool result, or `undefined` for an error or a missing response. */
export function toolResultText(outcome: DemoOutcome | undefined): string | undefined {
  const content = member(member(outcome, 'result'), 'content')
  return Array.isArray(content) ? asString(member(content[0], 'text')) : undefined
}

/** Checks that every kind of message the demo talks about has arrived. */
export function hasEveryMessageKind({ answers, progress, questions }: DemoSessionMessages): boolean {
  return answers.every((answer) => toolResultText(answer)) && progress.length > 0 && questions.length > 0
}

export function isMissOutcome(outcome: DemoOutcome | undefined): boolean {
  return member(member(member(outcome, 'error'), 'data'), 'kind') === 'replay_miss'
}

/** Extracts the miss report from the stderr of `reelay serve`, from its title to the closing summary. */
export function missReportIn(stderr: string): readonly string[] {
  const lines = stripVTControlCharacters(stderr).split('\n')
  const start = lines.findIndex((line) => line.startsWith('REPLAY MISS'))
  const end = lines.findIndex((line) => / answered, \d+ miss/.test(line))
  return start < 0 ? [] : lines.slice(start, end < 0 ? undefined : end)
}

export function toolNames(list: DemoOutcome | undefined): readonly string[] {
  const tools = member(member(list, 'result'), 'tools')
  return Array.isArray(tools) ? tools.map((tool: unknown) => String(member(tool, 'name'))) : []
}

function asString(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
