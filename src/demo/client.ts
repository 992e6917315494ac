import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { text as readText } from 'node:stream/consumers'
import { member, type Notification, type Request } from '../wire/message.ts'
import { Peer, type Outcome } from './peer.ts'

export interface Call {
  readonly tool: string
  readonly args: Readonly<Record<string, string>>
}

export interface VisitOptions {
  /** The server, as a client's config would name it. */
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly calls: readonly Call[]
  readonly firstId: number
  readonly signal: AbortSignal
}

/** What the server said, without what the client chose itself: ids and progress tokens. */
export interface Heard {
  readonly server: Outcome | undefined
  readonly list: Outcome | undefined
  /** In the order of the calls, though they ran side by side. */
  readonly answers: readonly (Outcome | undefined)[]
  readonly progress: readonly string[]
  readonly questions: readonly string[]
}

export interface Visit {
  readonly heard: Heard
  readonly stderr: string
  readonly exitCode: number | null
}

/** A whole MCP session with a server on stdio: handshake, list, all calls at once, then the end of input. */
export async function visit({ command, cwd, calls, firstId, signal }: VisitOptions): Promise<Visit> {
  const [file, ...args] = command
  const env = { ...process.env, REELAY_HOME: cwd } // what is made at first use goes with the folder
  const child = spawn(file, args, { cwd, env, stdio: 'pipe', signal })
  const ended = exitCodeOf(child)
  const stderr = readText(child.stderr)
  const heard = await converse(child, calls, firstId)
  child.stdin.end()
  return { heard, exitCode: await ended, stderr: await stderr }
}

function exitCodeOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
}

async function converse(
  child: ChildProcessWithoutNullStreams,
  calls: readonly Call[],
  firstId: number,
): Promise<Heard> {
  const progress: string[] = []
  const questions: string[] = []
  const peer = new Peer({
    input: child.stdout,
    output: child.stdin,
    firstId,
    answer: (request) => answerQuestion(request, questions),
    hear: (notification) => noteProgress(notification, progress),
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

function callTool(peer: Peer, { tool, args }: Call, progressToken: number): Promise<Outcome | undefined> {
  return peer.request('tools/call', { name: tool, arguments: args, _meta: { progressToken } })
}

function answerQuestion(request: Request, questions: string[]): Outcome {
  if (request.method !== 'elicitation/create')
    return { error: { code: -32601, message: `Method not found: ${request.method}` } }
  questions.push(String(member(request.params, 'message')))
  return { result: { action: 'accept', content: { choice: 'train' } } }
}

function noteProgress({ method, params }: Notification, progress: string[]): void {
  if (method === 'notifications/progress') progress.push(String(member(params, 'message')))
}
