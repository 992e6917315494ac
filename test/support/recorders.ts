import { join } from 'node:path'
import type { IncomingMessage } from 'node:http'
import { proxyAccess } from './forward.ts'
import { open, post, startRecorder } from './http.ts'
import { REELAY, start, temporaryFolder, until, type Running } from './recorder.ts'

/** A recorder as a process of its own, and how a client reaches a server through it. */
export interface Recorder extends Running {
  readonly tape: string
  /** Posts a message, and returns as soon as the head of the answer is there. */
  readonly open: (message: object) => Promise<IncomingMessage>
}

/** Each kind of proxy, for a server at this URL. */
export const RECORDERS: Readonly<Record<'reverse' | 'forward', (url: string) => Promise<Recorder>>> = {
  reverse: async (url) => {
    const run = await startRecorder(url)
    return { ...run, open: (message) => open(run.url, post(message)) }
  },
  forward: async (url) => {
    const tape = join(temporaryFolder(), 'session.tape.jsonl')
    const run = start([process.execPath, REELAY, 'record', '--forward', '-o', tape])
    const proxy = (): string | undefined => /HTTP_PROXY=(\S+)/.exec(run.stderr())?.[1]
    await until(() => proxy() !== undefined || run.child.exitCode !== null)
    const { host } = new URL(url)
    const { origin, headers } = proxyAccess(proxy() ?? '')
    const through = (message: object): Promise<IncomingMessage> =>
      open(origin, { ...post(message, { Host: host, ...headers }), path: url })
    return { ...run, tape, open: through }
  },
}
