import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CANARY, INJECTION } from '../shrink/leaks.ts'
import type { Failure } from '../shrink/watch.ts'
import type { ArgumentPlace, OddValue } from './odd-values.ts'

/** Values that show whether a server can be misused, and what they have shown. */
export interface SecurityProbes {
  /** Values for places that look like paths, URLs or texts; empty for other places. */
  readonly valuesFor: (place: ArgumentPlace, isEchoed: boolean) => readonly OddValue[]
  /** The failures since the last call. */
  readonly taken: () => readonly Failure[]
  readonly close: () => void
}

/**
 * Prepares the probes: a file that no server has to read, and a listener that no server has to call. Both hold a text or a token that is
 * known, so a response or a request with it is proof.
 */
export async function openProbes(folder: string): Promise<SecurityProbes> {
  mkdirSync(folder, { recursive: true })
  const canary = resolve(join(folder, 'canary.txt'))
  writeFileSync(canary, `${CANARY}\n`)
  const listener = await CanaryListener.open()
  return {
    valuesFor: (place, isEchoed) => [
      ...(looksLikePath(place) ? pathProbes(place, canary) : []),
      ...(looksLikeUrl(place)
        ? [...listener.urls(), { value: pathToFileURL(canary).href, why: 'the URL of a file' }]
        : []),
      ...(typeof place.value === 'string' ? [{ value: 'x'.repeat(OVERSIZED), why: 'a text of 8 MB' }] : []),
      ...(typeof place.value === 'string' && !isEchoed
        ? [{ value: INJECTION, why: 'an order to a model' }]
        : []),
    ],
    taken: () => listener.taken(),
    close: () => listener.close(),
  }
}

const OVERSIZED = 8_000_000

const PATH_NAMES = /path|file|dir(?:ectory)?$|folder|location|root|source|destination|template|include/i
const URL_NAMES = /ur[il]$|url|link|href|endpoint|webhook|callback|host|domain|site|feed|image/i

function looksLikePath({ path, value }: ArgumentPlace): boolean {
  if (typeof value !== 'string' || /^\w+:\/\//.test(value)) return false
  return (
    /^(?:\.{0,2}\/|[A-Za-z]:\\)|^[\w.-]+(?:\/[\w.-]+)+$|^[\w-]+\.\w{1,5}$/.test(value) ||
    PATH_NAMES.test(String(path.at(-1)))
  )
}

function looksLikeUrl({ path, value }: ArgumentPlace): boolean {
  if (typeof value !== 'string') return false
  return /^(?:https?|file|ftp):\/\//i.test(value) || URL_NAMES.test(String(path.at(-1)))
}

function pathProbes({ value }: ArgumentPlace, canary: string): readonly OddValue[] {
  const up = '../'.repeat(16)
  const bare = canary.replace(/^(?:[A-Za-z]:)?[\\/]+/, '')
  const recorded = String(value)
  return [
    { value: canary, why: 'an absolute path' },
    { value: `${up}${bare}`, why: 'a path that leads out' },
    { value: `${recorded}/${up}${bare}`, why: 'the recorded path and back out' },
    {
      value: `${recorded.replace(/[^/]*$/, '')}${up}${bare}`,
      why: 'a path that leads out of the recorded folder',
    },
    { value: `${'..%2f'.repeat(16)}${bare.replaceAll('/', '%2f')}`, why: 'an encoded path that leads out' },
    { value: `${'....//'.repeat(16)}${bare}`, why: 'a path that leads out after one cleaning' },
    { value: `${up}${bare}\u0000.txt`, why: 'a path with a NUL character' },
    { value: pathToFileURL(canary).href, why: 'the URL of a file' },
  ]
}

/** Listens on this machine, and notices who asks. */
class CanaryListener {
  readonly #server: Server
  readonly #port: number
  readonly #hits = new Map<string, string>()
  readonly #given = new Map<string, string>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.#port = port
    server.on('request', (request, response) => {
      const token = /reelay-[\da-f-]{36}/.exec(request.url ?? '')?.[0]
      const way = token === undefined ? undefined : this.#given.get(token)
      if (token !== undefined && way !== undefined) this.#hits.set(token, way)
      response.writeHead(200, { 'content-type': 'text/plain' }).end('seen\n')
    })
  }

  static async open(): Promise<CanaryListener> {
    const server = createServer()
    server.unref()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    return new CanaryListener(server, typeof address === 'object' && address !== null ? address.port : 0)
  }

  urls(): readonly OddValue[] {
    return ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f000001', '[::ffff:127.0.0.1]'].map(
      (host) => {
        const token = `reelay-${randomUUID()}`
        this.#given.set(token, host)
        return { value: `http://${host}:${this.#port}/${token}`, why: `a URL of this machine (${host})` }
      },
    )
  }

  taken(): readonly Failure[] {
    const hosts = [...new Set(this.#hits.values())]
    this.#hits.clear()
    return hosts.map((host) => ({
      call: 'the server',
      signature: 'ssrf',
      summary: `the server requested a URL of this machine (${host}) that an argument named`,
      fails: 'ssrf',
    }))
  }

  close(): void {
    this.#server.close()
  }
}
