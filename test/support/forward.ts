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

/** Sends a request as clients send it to a forward proxy: with the whole URL. */
export function askThrough(proxy: string, url: string, options: Ask = {}): Promise<Answer> {
  return ask(proxy, { headers: { Host: new URL(url).host }, ...options, path: url })
}

/** Says CONNECT, and returns the socket and the status. */
export async function connectThrough(
  proxy: string,
  authority: string,
): Promise<{ status: number | undefined; socket: Socket }> {
  const req = request(proxy, { method: 'CONNECT', path: authority, agent: false })
  req.end()
  const [answer, socket] = (await once(req, 'connect')) as [IncomingMessage, Socket]
  onTestFinished(() => void socket.destroy())
  return { status: answer.statusCode, socket }
}
