import { once } from 'node:events'
import {
  createServer,
  request,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { recordHttp, type RecordHttpOptions } from '../../src/record/http/record-url.ts'
import { linesOf, REELAY, start, temporaryFolder, until, type Running } from './recorder.ts'

export type Listener = (req: IncomingMessage, res: ServerResponse) => unknown

/** A server of the test's own making, gone when the test is over. */
export async function httpServer(listener: Listener): Promise<{ origin: string; close: () => void }> {
  const server = createServer((req, res) => void listener(req, res))
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  onTestFinished(close)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

export interface Recording {
  readonly url: string
  readonly origin: string
  readonly tape: string
  /** Finishes the tape and returns its lines. */
  readonly lines: () => Promise<Record<string, unknown>[]>
}

/** A recorder in front of a URL, in this process. */
export async function recordUrl(url: string, options: Partial<RecordHttpOptions> = {}): Promise<Recording> {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const recording = await recordHttp({ url, tape, server: 's', ...options })
  onTestFinished(async () => void (await recording.close()))
  const lines = async (): Promise<Record<string, unknown>[]> => {
    await recording.close()
    return linesOf(tape)
  }
  return { url: recording.url, origin: new URL(recording.url).origin, tape, lines }
}

export interface RecorderProcess extends Running {
  readonly url: string
  readonly tape: string
}

/** The same as a process of its own, as a user starts it. */
export async function startRecorder(url: string, ...options: string[]): Promise<RecorderProcess> {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '-o', tape, '--url', url, ...options])
  const given = (): string | undefined => /client: (\S+)/.exec(run.stderr())?.[1]
  await until(() => given() !== undefined || run.child.exitCode !== null)
  return { ...run, tape, url: given() ?? '' }
}

export interface Answer {
  readonly status: number
  readonly reason: string
  readonly headers: readonly string[]
  readonly body: Buffer
}

export type Ask = RequestOptions & { readonly body?: string | Buffer }

/** Sends a request and returns its answer, byte for byte, without the headers that belong to one hop. */
export async function ask(url: string, options: Ask = {}): Promise<Answer> {
  const answer = await open(url, options)
  const body = await buffer(answer)
  return {
    status: answer.statusCode ?? 0,
    reason: answer.statusMessage ?? '',
    headers: endToEnd(answer.rawHeaders),
    body,
  }
}

/** Sends a request and returns as soon as the head of the answer is there. */
export async function open(url: string, { body, ...options }: Ask = {}): Promise<IncomingMessage> {
  const req = request(url, { agent: false, ...options })
  req.end(body)
  const [answer] = (await once(req, 'response')) as [IncomingMessage]
  return answer
}

/** A POST as MCP clients send it. */
export function post(message: unknown, headers: Record<string, string> = {}): Ask {
  const body = typeof message === 'string' ? message : JSON.stringify(message)
  const accept = 'application/json, text/event-stream'
  return {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: accept, ...headers },
    body,
  }
}

function endToEnd(raw: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at + 1 < raw.length; at += 2)
    if (!/^(connection|keep-alive|transfer-encoding)$/i.test(raw[at] ?? ''))
      lines.push(`${raw[at]}: ${raw[at + 1]}`)
  return lines
}
