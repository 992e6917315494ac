import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { createCanary } from '../shrink/canary.ts'
import { INJECTION } from '../shrink/leaks.ts'
import type { Failure } from '../shrink/watch.ts'
import type { FailingSession } from '../shrink/failing-session.ts'
import { withRequirements } from '../shrink/reduce-set.ts'
import type { ArgumentPlace, OddValue } from './odd-values.ts'
import { argumentPlaces, callOf, nameOf, placeName, stepWithValue } from './operators.ts'
import type { SessionRunner } from './session-runner.ts'
import { stepAsRecorded, type VariedStep } from './varied-session.ts'

/** Values that show whether a server can be misused, and what they have shown. */
export interface SecurityProbes {
  /** False if the server may read every folder in which a file could be hidden from it. */
  readonly triesPaths: boolean
  /** Values for places that look like paths, URLs or texts; empty for other places. */
  readonly valuesFor: (place: ArgumentPlace, use: PlaceUse) => readonly OddValue[]
  /** The failures since the last call. */
  readonly taken: () => readonly Failure[]
  readonly close: () => void
}

interface PlaceUse {
  /** Such as `tools/call fetch`. */
  readonly call: string
  /** The response repeats the value on purpose. */
  readonly isEchoed: boolean
}

/**
 * Prepares the probes: a file that no server has to read, and a listener that no server has to call. Both hold a text or a token that is
 * known, so a response or a request with it is proof.
 */
export async function openProbes(known: Parameters<typeof createCanary>[0]): Promise<SecurityProbes> {
  const canary = createCanary(known)
  const listener = await CanaryListener.open()
  const paths = (place: ArgumentPlace): readonly OddValue[] =>
    canary !== undefined && looksLikePath(place) ? pathProbes(place, canary.path) : []
  const urls = (place: ArgumentPlace, call: string): readonly OddValue[] =>
    looksLikeUrl(place)
      ? [
          ...listener.urls(call),
          ...(canary === undefined
            ? []
            : [{ value: pathToFileURL(canary.path).href, why: 'the URL of a file' }]),
        ]
      : []
  return {
    triesPaths: canary !== undefined,
    valuesFor: (place, use) =>
      typeof place.value === 'string' ? [...paths(place), ...urls(place, use.call), ...textProbes(use)] : [],
    taken: () => listener.taken(),
    close: () => {
      listener.close()
      canary?.close()
    },
  }
}

/** How many probes were sent, and which were not. */
export interface ProbeCount {
  readonly sent: number
  /** Such as `tools/call fetch (#3 on the tape) with arguments.url: the URL of a file`. */
  readonly untried: readonly string[]
  readonly triesPaths: boolean
}

interface ProbeRun {
  readonly runner: SessionRunner
  readonly probes: SecurityProbes
  readonly oracles: readonly string[]
  /** Says why no run with this number may follow; `undefined` if it may. */
  readonly why: (run: number) => string | undefined
}

/** Sends every probe, a few in each run, beside the recorded messages. */
export async function sendProbes(
  items: readonly number[],
  session: FailingSession,
  { runner, probes, oracles, why }: ProbeRun,
): Promise<ProbeCount> {
  const groups = probeGroups(items, session, probes)
  const all = groups.flat().length
  const lost: VariedStep[] = []
  for (let run = 1; groups[0] !== undefined && why(run) === undefined; run++) {
    const group = groups[0]
    groups.shift()
    const sent = new Set<VariedStep>()
    const variation = namesOf(group)
    await runner.tryOut({
      steps: sessionWith(group, items, session),
      variation,
      run,
      oracles,
      onStep: (step, { sent: text }) => void (text !== undefined && sent.add(step)),
    })
    for (const failure of probes.taken()) runner.add(failure, { run, variation })
    const unsent = group.filter((step) => !sent.has(step))
    // A crash or a hang keeps the rest of a group from being sent.
    if (unsent.length === group.length) lost.push(...unsent)
    else if (unsent.length > 0) groups.unshift(unsent)
  }
  const untried = namesOf([...groups.flat(), ...lost])
  return { sent: all - untried.length, untried, triesPaths: probes.triesPaths }
}

function namesOf(steps: readonly VariedStep[]): readonly string[] {
  return steps.map(({ probe = '' }) => probe)
}

/** One step for each value that fits a place, in groups of a few. A place that several calls have is tried once. */
function probeGroups(
  items: readonly number[],
  session: FailingSession,
  probes: SecurityProbes,
): (readonly VariedStep[])[] {
  const known = new Set<string>()
  const short: VariedStep[] = []
  const huge: VariedStep[] = []
  for (const item of items)
    for (const place of argumentPlaces({ item }, { session })) {
      const call = callOf({ item }, { session })
      const name = placeName({ item }, place, { session })
      const key = `${call} ${name.replaceAll(/\[\d+\]/g, '[]')}`
      if (known.has(key)) continue
      known.add(key)
      for (const { value, why } of probes.valuesFor(place, {
        call,
        isEchoed: repeatsValue(place, item, session),
      }))
        (String(value).length < OVERSIZED ? short : huge).push({
          ...stepWithValue({ item }, { path: place.path, value }, { session }),
          probe: `${nameOf({ item }, { session })} with ${name}: ${why}`,
        })
    }
  const groups: (readonly VariedStep[])[] = []
  for (let at = 0; at < short.length; at += MOST_PROBES) groups.push(short.slice(at, at + MOST_PROBES))
  return [...groups, ...huge.map((step) => [step])]
}

const MOST_PROBES = 8

/** Tools such as `echo` repeat what they are given. */
function repeatsValue({ value }: ArgumentPlace, item: number, { part }: FailingSession): boolean {
  return part.turns.at(item)?.response?.text.includes(JSON.stringify(value).slice(1, -1)) === true
}

/** The session, or of a long one what the probes need, with the probes after the calls that they are made of. */
function sessionWith(
  probes: readonly VariedStep[],
  items: readonly number[],
  session: FailingSession,
): readonly VariedStep[] {
  const needed = new Set(probes.flatMap(({ item }) => [...withRequirements(item, session.needs)]))
  const played = items.length <= LONGEST_SESSION ? items : items.filter((item) => needed.has(item))
  return played.flatMap((item) => [
    stepAsRecorded(item, session),
    ...probes.filter((probe) => probe.item === item),
  ])
}

const LONGEST_SESSION = 40

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

function textProbes({ isEchoed }: PlaceUse): readonly OddValue[] {
  return [
    ...(isEchoed ? [] : [{ value: INJECTION, why: 'an order to a model' }]),
    { value: 'x'.repeat(OVERSIZED), why: 'a text of 8 MB' },
  ]
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

/** A URL that was put into an argument. */
interface GivenUrl {
  readonly host: string
  readonly call: string
}

/** Listens on this machine, and notices who asks. */
class CanaryListener {
  readonly #server: Server
  readonly #port: number
  readonly #hits = new Set<GivenUrl>()
  readonly #given = new Map<string, GivenUrl>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.#port = port
    server.on('request', (request, response) => {
      const token = /reelay-[\da-f-]{36}/.exec(request.url ?? '')?.[0]
      const given = token === undefined ? undefined : this.#given.get(token)
      if (given !== undefined) this.#hits.add(given)
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

  urls(call: string): readonly OddValue[] {
    return ['127.0.0.1', 'localhost', '127.1', '2130706433', '0x7f000001', '[::ffff:127.0.0.1]'].map(
      (host) => {
        const token = `reelay-${randomUUID()}`
        this.#given.set(token, { host, call })
        return { value: `http://${host}:${this.#port}/${token}`, why: `a URL of this machine (${host})` }
      },
    )
  }

  taken(): readonly Failure[] {
    const hits = [...this.#hits]
    this.#hits.clear()
    return hits.map(({ host, call }) => ({
      call,
      signature: 'ssrf',
      summary: `the server requested a URL of this machine (${host}) that an argument named`,
      fails: 'ssrf',
    }))
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
