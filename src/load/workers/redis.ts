import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as BullMq from 'bullmq'
import type { Redis, RedisOptions } from 'ioredis'
import { errorMessage, ReelayError } from '../../errors.ts'

/** Names in Redis. Everything begins with `reelay:`; use another database number to keep groups of workers apart. */
export const REDIS_KEYS = {
  /** The run that is under way; it expires if its coordinator is gone. */
  run: 'reelay:run',
  /** What each worker is, and when it was last seen. */
  workers: 'reelay:workers',
  /** What workers report. */
  results: 'reelay:results',
  /** What the coordinator tells all workers. */
  control: 'reelay:control',
  tape: (hash: string) => `reelay:tape:${hash}`,
  /** BullMQ's queue of parts and its prefix. */
  queue: 'load',
  prefix: 'reelay:bull',
} as const

/** A connection that is opened again whenever it is lost. Commands wait until then. */
export interface WorkerRedis {
  readonly client: Redis
  readonly bull: typeof BullMq
  /** The address without its password. */
  readonly name: string
  /** The clock of Redis, in milliseconds since the epoch. */
  readonly now: () => number
  /** Converts a time of Redis to the clock of this machine. */
  readonly toLocal: (time: number) => number
  /** Opens another connection, for a command that blocks. */
  readonly duplicate: () => Redis
  readonly close: () => void
}

/** Connects to Redis and measures its clock. `onState` is told when the connection is lost and when it is back. */
export async function connectRedis(
  address: URL,
  { onState = () => {} }: { readonly onState?: (state: 'lost' | 'back', why: string) => void } = {},
): Promise<WorkerRedis> {
  const { bullmq, ioredis } = loadLibraries()
  const name = `${address.protocol}//${address.host}${address.pathname.replace(/^\/$/, '')}`
  const url = withPassword(address).href
  const connections = new Set<Redis>()
  const open = (options: RedisOptions): Redis => {
    const client = new ioredis.Redis(url, { maxRetriesPerRequest: null, ...options })
    connections.add(client)
    return client
  }
  await requireReachable(open({ lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 }), name)
  const client = open({ retryStrategy })
  let lastError = ''
  let isLost = false
  client.on('error', (error: Error) => (lastError = plainReason(error)))
  client.on('close', () => {
    if (!isLost) onState('lost', lastError)
    isLost = true
  })
  client.on('ready', () => {
    if (isLost) onState('back', '')
    isLost = false
  })
  const offset = await measureOffset(client)
  return {
    client,
    bull: bullmq,
    name,
    now: () => Date.now() + offset,
    toLocal: (time) => time - offset,
    duplicate: () => {
      const other = open({ retryStrategy })
      other.on('error', () => {}) // the first connection reports it
      return other
    },
    close: () => {
      client.removeAllListeners('close')
      for (const each of connections) each.disconnect()
    },
  }
}

const retryStrategy = (attempt: number): number => Math.min(attempt * 100, MAX_RETRY_DELAY_MS)
const MAX_RETRY_DELAY_MS = 500

/** The libraries are optional: most users have one machine. They are looked for beside Reelay and in the project. */
function loadLibraries(): {
  readonly bullmq: typeof BullMq
  readonly ioredis: { readonly Redis: typeof Redis }
} {
  for (const place of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      const load = createRequire(place)
      return { bullmq: load('bullmq') as typeof BullMq, ioredis: load('ioredis') as { Redis: typeof Redis } }
    } catch {
      continue
    }
  }
  throw new ReelayError('WORKERS_FAILED', 'load on several machines needs the packages bullmq and ioredis', {
    hint: 'install them: npm install bullmq ioredis',
  })
}

/** The password can be kept out of the command line, which other users of the machine can read. */
function withPassword(address: URL): URL {
  const { REELAY_REDIS_PASSWORD: password = '' } = process.env
  if (address.password !== '' || password === '') return address
  const full = new URL(address)
  full.password = encodeURIComponent(password)
  return full
}

async function requireReachable(probe: Redis, name: string): Promise<void> {
  let first: Error | undefined
  probe.on('error', (error: Error) => (first ??= error))
  try {
    await probe.connect()
    await probe.ping()
  } catch (error) {
    throw connectionError(first ?? error, name)
  } finally {
    probe.disconnect()
  }
}

function connectionError(error: unknown, name: string): ReelayError {
  const why = plainReason(error)
  if (/WRONGPASS|invalid password/i.test(why))
    return new ReelayError('WORKERS_FAILED', `Redis at ${name} refuses the password`, {
      hint: 'write it into the address, redis://:password@host, or set REELAY_REDIS_PASSWORD',
      cause: error,
    })
  if (/NOAUTH/i.test(why))
    return new ReelayError('WORKERS_FAILED', `Redis at ${name} requires a password`, {
      hint: 'set REELAY_REDIS_PASSWORD, or write it into the address: redis://:password@host',
      cause: error,
    })
  return new ReelayError('WORKERS_FAILED', `Redis at ${name} cannot be reached: ${why}`, {
    hint: 'check the address, and that redis-server is running there',
    cause: error,
  })
}

function plainReason(error: unknown): string {
  return error instanceof AggregateError ? errorMessage(error.errors[0]) : errorMessage(error)
}

const CLOCK_SAMPLES = 5

/** How far the clock of Redis is ahead of ours. The sample with the shortest way counts. */
async function measureOffset(client: Redis): Promise<number> {
  let best = { took: Infinity, offset: 0 }
  for (let sample = 0; sample < CLOCK_SAMPLES; sample++) {
    const before = Date.now()
    const [seconds, micros] = await client.time()
    const after = Date.now()
    const took = after - before
    const time = Number(seconds) * 1000 + Number(micros) / 1000
    if (took < best.took) best = { took, offset: time - (before + after) / 2 }
  }
  return best.offset
}
