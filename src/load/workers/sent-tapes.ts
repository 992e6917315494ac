import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { ReelayError } from '../../errors.ts'
import { findBindingsFile } from '../../store/companion-files.ts'
import type { SentTape } from './messages.ts'
import { REDIS_KEYS, type WorkerRedis } from './redis.ts'

/** A tape without secrets that workers will play. */
export interface TapeToSend {
  /** How the user named it. */
  readonly name: string
  /** The redacted file. */
  readonly path: string
  /** The tape beside which a bindings file may be; by default `path`. */
  readonly original?: string
  readonly weight: number
}

const KEPT_SECONDS = 24 * 60 * 60
const MAX_BYTES = 256 * 1024 * 1024

/** Stores a tape and its bindings file in Redis, unless they are there. */
export async function sendTape({ client }: WorkerRedis, tape: TapeToSend): Promise<SentTape> {
  const { name, path, original = path, weight } = tape
  const content = readFileSync(path)
  const bindings = findBindingsFile(original)
  const bindingsText = bindings === undefined ? '' : readFileSync(bindings, 'utf8')
  const hash = hashOf(content, bindingsText)
  const key = REDIS_KEYS.tape(hash)
  if ((await client.exists(key)) === 0) {
    const packed = gzipSync(content)
    if (packed.length > MAX_BYTES)
      throw new ReelayError('WORKERS_FAILED', `${name} is too large to be sent to workers`, {
        hint: 'play a shorter recording: less than 256 MiB when compressed',
      })
    const kind = bindings?.endsWith('.json') === true ? 'json' : 'yaml'
    await client.hset(key, { tape: packed, bindings: bindingsText, kind })
  }
  await client.expire(key, KEPT_SECONDS)
  return { name, hash, weight }
}

/** Writes a tape that was sent into a folder, once, and returns its path. */
export async function receiveTape(
  { client }: WorkerRedis,
  { name, hash }: SentTape,
  folder: string,
): Promise<string> {
  if (!/^[0-9a-f]{64}$/.test(hash)) throw unusable(name, 'its hash is not one')
  const path = join(folder, `${hash}.tape.jsonl`)
  if (existsSync(path)) return path
  const [packed, bindings, kind] = await client.hmgetBuffer(REDIS_KEYS.tape(hash), 'tape', 'bindings', 'kind')
  if (!packed) throw unusable(name, 'it is not in Redis any more')
  const content = gunzipSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES })
  const bindingsText = bindings?.toString() ?? ''
  if (hashOf(content, bindingsText) !== hash) throw unusable(name, 'its content does not have its hash')
  const ending = kind?.toString() === 'json' ? 'json' : 'yaml'
  if (bindingsText !== '')
    writeFileSync(join(folder, `${hash}.bindings.${ending}`), bindingsText, { mode: 0o600 })
  writeFileSync(path, content, { mode: 0o600 })
  return path
}

const MAX_UNPACKED_BYTES = 2 ** 32 - 1

function hashOf(content: Buffer, bindings: string): string {
  return createHash('sha256').update(content).update('\0').update(bindings).digest('hex')
}

function unusable(name: string, why: string): ReelayError {
  return new ReelayError('WORKERS_FAILED', `the tape ${basename(name)} cannot be used: ${why}`, {
    hint: 'start the run again',
  })
}
