import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { text as readText } from 'node:stream/consumers'
import { member, type Notification, type Request } from '../protocol/message.ts'
import { DemoPeer, type DemoOutcome } from './peer.ts'

export interface DemoToolCall {
  readonly tool: string
  readonly args: Readonly<Record<string, string>>
}

export interface DemoSessionOptions {
  /** The server, as a client's config would name it. */
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly calls: readonly DemoToolCall[]
  readonly firstId: number
  readonly signal: AbortSignal
}

/** What the server said, without what the client chose itself: ids and progress tokens. */
export interface DemoSessionMessages {
  readonly server: DemoOutcome | undefined
  readonly list: DemoOutcome | undefined
  /** In the order of the calls, though they ran side by side. */
  readonly answers: readonly (DemoOutcome | undefined)[]
  readonly progress: readonly string[]
  readonly questions: readonly string[]
}

export interface DemoSession {
  readonly received: DemoSessionMessages
  readonly stderr: string
  readonly exitCode: number | null
}

/** A whole MCP session with a server on stdio: handshake, list, all calls at once, then the end of input. */
export async function runDemoSession({
  command,
  cwd,
  calls,
  firstId,
  signal,
}: DemoSessionOptions): Promise<DemoSession> {
  const [file, ...args] = command
  const env = { ...process.env, REELAY_HOME: cwd } // what is made at first use goes with the folder
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
