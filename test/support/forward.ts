import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { recordForwardProxy, type ForwardProxyNotice } from '../../src/record/http/record-forward.ts'
import type { RecordingRules } from '../../src/record/tape-log.ts'
import { ask, type Answer, type Ask } from './http.ts'
import { linesOf, temporaryFolder } from './recorder.ts'

export interface Forwarding {
  readonly proxy: string
  readonly tape: string
  readonly notices: readonly ForwardProxyNotice[]
  /** Finishes the tape and returns its lines. */
  readonly lines: () => Promise<Record<string, unknown>[]>
}

/** A forward proxy that records, in this process, without a CA. */
export async function forward(server?: string, rules: RecordingRules = {}): Promise<Forwarding> {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const notices: ForwardProxyNotice[] = []
  const recording = await recordForwardProxy({
    listen: { host: '127.0.0.1', port: 0 },
    tape,
    server,
    tags: {},
    ...rules,
    maxMessageBytes: 1024 * 1024,
    onNotice: (notice) => notices.push(notice),
  })
  onTestFinished(async () => void (await recording.close()))
  const lines = async (): Promise<Record<string, unknown>[]> => {
    await recording.close()
    return linesOf(tape)
  }
  return { proxy: recording.proxy, tape, notices, lines }
}

/** Sends a request as clients send it to a forward proxy: with the whole URL, and with the credentials of the proxy. */
export function askThrough(proxy: string, url: string, options: Ask = {}): Promise<Answer> {
  const { origin, headers } = proxyAccess(proxy)
  const given = (options.headers as Record<string, string> | undefined) ?? { Host: new URL(url).host }
  return ask(origin, { ...options, headers: { ...given, ...headers }, path: url })
}

/** Splits the URL of a proxy into its origin and the header with its credentials. */
export function proxyAccess(proxy: string): { origin: string; headers: Record<string, string> } {
  const { origin, username, password } = new URL(proxy)
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  return { origin, headers: { 'Proxy-Authorization': `Basic ${credentials}` } }
}

/** Says CONNECT, and returns the socket and the status. */
export async function connectThrough(
  proxy: string,
  authority: string,
): Promise<{ status: number | undefined; socket: Socket }> {
  const { origin, headers } = proxyAccess(proxy)
  const req = request(origin, { method: 'CONNECT', path: authority, headers, agent: false })
  req.end()
  const [answer, socket] = (await once(req, 'connect')) as [IncomingMessage, Socket]
  onTestFinished(() => void socket.destroy())
  return { status: answer.statusCode, socket }
}
