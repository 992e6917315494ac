import { createServer } from 'node:net'
import { once } from 'node:events'
import { REELAY, start, until, type Running } from './recorder.ts'

export interface TestRedis {
  readonly url: string
  readonly port: number
  /** Ends it at once, as `kill -9` does. */
  readonly kill: () => Promise<void>
  /** Starts it again at the same port. */
  readonly restart: () => Promise<void>
}

/** Starts Debian's redis-server on a free port. What it stores is gone when it ends. */
export async function startRedis(...options: string[]): Promise<TestRedis> {
  const port = await freePort()
  const launch = async (): Promise<Running> => {
    const words = ['redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '', ...options]
    const run = start(words)
    run.child.once('error', () => {
      throw new Error('redis-server is missing (Debian: apt-get install redis-server; npm test installs it)')
    })
    await run.line('Ready to accept connections')
    return run
  }
  let running = await launch()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    kill: async () => {
      running.child.kill('SIGKILL')
      await running.exited
    },
    restart: async () => {
      running = await launch()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Starts a worker, and waits until it waits for work. */
export async function startWorker(
  url: string,
  options: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Running> {
  const worker = start([process.execPath, REELAY, 'worker', url, ...options], { env })
  await until(() => worker.stderr().includes('waits at'))
  return worker
}
