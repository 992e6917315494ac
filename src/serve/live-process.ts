import { setTimeout as sleep } from 'node:timers/promises'
import { cannotStart } from '../transport/cannot-start.ts'
import { isGroupAlive, signalGroup } from '../transport/process-group.ts'
import { startServer, type ServerProcess } from '../transport/server-process.ts'
import { decodeUtf8, LineSplitter } from '../wire/lines.ts'
import type { LiveListener, LiveServer } from './passthrough.ts'

/** Starts a server command. Nothing else in this folder starts a process, and nothing loads this file before a miss. */
export async function startLiveProcess(
  command: readonly [string, ...string[]],
  { heard, gone }: LiveListener,
): Promise<LiveServer> {
  const server = await startServer(command)
  if (server.pid === undefined) throw await cannotStart(server)
  const lines = new LineSplitter({
    onLine: (bytes) => heard(decodeUtf8(bytes) ?? ''),
    onOverlong: (_head, total) => gone(`it sent a line of ${total} bytes`),
  })
  server.child.stdout.on('data', (chunk: Buffer) => lines.push(chunk))
  server.child.stderr.on('data', (chunk: Buffer) => process.stderr.write(chunk))
  server.child.stdin.on('error', () => {}) // its exit says the same
  void server.exited.then(({ code, signal }) => gone(`it ended with ${code ?? signal}`))
  return {
    send: (text) => void server.child.stdin.write(`${text}\n`),
    end: () => endServer(server, server.pid ?? 0),
  }
}

const PATIENCE_MS = 2000

/** Most servers leave when their input ends; the others are asked, and then made to. */
async function endServer({ child, exited, guard }: ServerProcess, pid: number): Promise<void> {
  child.stdin.end()
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await Promise.race([exited, sleep(PATIENCE_MS, undefined, { ref: false })])
    if (isGroupAlive(pid)) signalGroup(pid, signal)
  }
  await exited
  guard.dismiss()
}
