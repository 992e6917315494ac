import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReelayError } from '../errors.ts'
import type { FaultKind } from '../faults/fault.ts'
import { type FaultRule, type FaultSetting, parseFaultRules } from '../faults/fault-rules.ts'
import { FAULT_KINDS } from '../faults/kinds/registry.ts'
import { sleep } from '../link/process/monotonic-clock.ts'
import { ProcessFamily } from '../link/process/process-family.ts'
import { commandStartError, loadSpawn } from '../link/process/server-process.ts'
import { calledTool, type Request } from '../protocol/message.ts'
import { isHandshakeMethod } from '../protocol/revisions/index.ts'
import { recordHttp } from '../record/http/record-url.ts'
import { FaultInjector } from '../record/intercept/fault-injector.ts'
import { serveHttp } from '../serve/http/serve-http.ts'
import { loadTape, openTape } from '../store/file/read.ts'
import { isSeenBy } from '../tape/frame.ts'

/** The word in the client command that becomes the command of the faulty server. */
const SERVER_WORD = '{server}'
/** The text in the client command that becomes the URL of the faulty server. */
const URL_TEXT = '{url}'

export interface SurvivalOptions {
  /** The tape that plays the server. */
  readonly tape: string
  readonly client: readonly [string, ...string[]]
  /** The command that starts this program. */
  readonly program: readonly [string, ...string[]]
  /** Only faults of these kinds; by default all that the transport supports. */
  readonly kinds?: readonly string[] | undefined
  /** Whether the handshake is damaged too. */
  readonly handshake: boolean
  readonly seed: number
  /** A client that runs longer than this hangs. */
  readonly timeoutMs: number
  /** How many clients run at the same time. */
  readonly jobs: number
  /** The folder for the tapes of failures. */
  readonly keep: string
  readonly signal: AbortSignal
  readonly onProgress?: (done: number, all: number) => void
}

/**
 * What a fault did to the client: it gave the same answer (recovered), said that something is wrong (degraded), gave another
 * answer without saying so (wrong), did not end (hung), crashed, or left a process or a session behind (leaked).
 */
export type Survival = 'recovered' | 'degraded' | 'wrong' | 'hung' | 'crashed' | 'leaked'

export interface SurvivalCell {
  /** The positions in `faults` and `calls`. */
  readonly fault: number
  readonly call: number
  /** `undefined` if the client did not come to this call, or the run was interrupted. */
  readonly survival: Survival | undefined
  readonly why: string
  /** The tape of a failure. */
  readonly tape?: string
}

/** A call of the session without faults. */
interface SurvivalCall {
  readonly method: string
  readonly tool: string | undefined
  /** Its number among the equal ones. */
  readonly nth: number
}

export interface SurvivalMatrix {
  readonly faults: readonly string[]
  readonly calls: readonly SurvivalCall[]
  readonly cells: readonly SurvivalCell[]
  readonly transport: 'stdio' | 'http'
  /** Remarks about how the client was judged. */
  readonly notes: readonly string[]
}

/** Whether a client must not end like this. */
export function didNotSurvive(survival: Survival | undefined): boolean {
  return survival !== undefined && survival !== 'recovered' && survival !== 'degraded'
}

/** Runs a client against a served tape, once for each fault at each call of its session, and judges how it ends. */
export async function surviveEveryFault(options: SurvivalOptions): Promise<SurvivalMatrix> {
  const transport = transportOf(options.client)
  const scratch = mkdtempSync(join(tmpdir(), 'reelay-chaos-'))
  try {
    const runs = new ClientRuns(options, transport, scratch)
    const { baseline, notes } = await runs.baseline()
    const calls = callsOf(baseline.requests, options.handshake)
    if (calls.length === 0)
      throw new ReelayError('USAGE', 'the client made no call that a fault could be applied to', {
        hint: 'add --handshake to damage the handshake, too',
      })
    const faults = faultsFor(transport, options.kinds)
    const planned = faults.flatMap((fault, row) =>
      calls.flatMap((call, column) =>
        fault.kind.affects?.test(call.method) === false ? [] : [{ fault, call, row, column }],
      ),
    )
    const cells: SurvivalCell[] = []
    await inParallel(planned, options.jobs, async ({ fault, call, row, column }) => {
      if (options.signal.aborted) return
      const tape = join(scratch, `${row}-${column}.tape.jsonl`)
      const run = await runs.run({ ...selectorOf(call), [fault.kind.name]: fault.value }, tape)
      const judged = options.signal.aborted ? UNKNOWN : judge(run, baseline)
      const kept = didNotSurvive(judged.survival)
        ? await keepTape(options.keep, tape, fault.label, call)
        : undefined
      cells.push({ fault: row, call: column, ...judged, ...(kept !== undefined && { tape: kept }) })
      options.onProgress?.(cells.length, planned.length)
    })
    const order = cells.toSorted((one, other) => one.fault - other.fault || one.call - other.call)
    return { faults: faults.map(({ label }) => label), calls, cells: order, transport, notes }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

const UNKNOWN = { survival: undefined, why: 'interrupted' } as const

function transportOf(client: readonly string[]): 'stdio' | 'http' {
  if (client.includes(SERVER_WORD)) return 'stdio'
  if (client.some((word) => word.includes(URL_TEXT))) return 'http'
  throw new ReelayError('USAGE', 'the client command does not say where the server goes', {
    hint: `write ${SERVER_WORD} where your client takes the server command, or ${URL_TEXT} where it takes a URL: reelay chaos <tape> --every -- node client.js ${URL_TEXT}`,
  })
}

/** A kind of fault with one of its values. */
interface NamedFault {
  readonly kind: FaultKind
  readonly value: unknown
  readonly label: string
}

/** Every kind with each of its named values, as far as the transport supports it. */
function faultsFor(transport: 'stdio' | 'http', kinds: readonly string[] | undefined): readonly NamedFault[] {
  const unknown = kinds?.find((name) => !FAULT_KINDS.some((kind) => kind.name === name))
  if (unknown !== undefined)
    throw new ReelayError('USAGE', `there is no kind of fault ${JSON.stringify(unknown)}`, {
      hint: 'reelay faults lists all kinds',
    })
  return FAULT_KINDS.filter(({ name }) => kinds === undefined || kinds.includes(name)).flatMap((kind) =>
    (kind.variants ?? [kind.example]).flatMap((value) => {
      const needs = kind.parse(value)?.needs
      if (transport === 'stdio' && needs === 'http') return []
      const label = value === true ? kind.name : `${kind.name}: ${labelOf(value)}`
      return [{ kind, value, label }]
    }),
  )
}

function labelOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function selectorOf({ method, tool, nth }: SurvivalCall): FaultSetting {
  return { method, ...(tool !== undefined && { tool }), nth }
}

function callsOf(requests: readonly Request[], handshake: boolean): readonly SurvivalCall[] {
  const seen = new Map<string, number>()
  return requests.flatMap((request) => {
    const { method } = request
    if (!handshake && (isHandshakeMethod(method) || method === 'ping')) return []
    const tool = method === 'tools/call' ? calledTool(request) : undefined
    const key = `${method} ${tool ?? ''}`
    const nth = (seen.get(key) ?? 0) + 1
    seen.set(key, nth)
    return [{ method, tool, nth }]
  })
}

async function keepTape(folder: string, tape: string, label: string, call: SurvivalCall): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const name = `${label}-${call.tool ?? call.method}-${call.nth}`.replaceAll(/[^\w.-]+/g, '-').slice(0, 100)
  const kept = join(folder, `${name}.tape.jsonl`)
  await rename(tape, kept).catch(async () => {
    const { copyFile } = await import('node:fs/promises')
    await copyFile(tape, kept) // another file system
  })
  return kept
}

/** How one run of the client ended. */
interface ClientRun {
  readonly exit: string
  /** Whether it ended with a signal of its own. */
  readonly isKilled: boolean
  readonly isHung: boolean
  readonly leftProcesses: boolean
  readonly stdout: string
  readonly stderr: string
  /** From the tape. */
  readonly requests: readonly Request[]
  readonly faults: number
  /** Sessions that were opened over HTTP, and those that the client ended. */
  readonly opened: number
  readonly closed: number
}

interface Baseline extends ClientRun {
  /** Whether two runs without faults print the same. */
  readonly isSteady: boolean
}

function judge(run: ClientRun, baseline: Baseline): Pick<SurvivalCell, 'survival' | 'why'> {
  if (run.isHung) return { survival: 'hung', why: 'did not end in time' }
  if (run.faults === 0) return { survival: undefined, why: 'the client did not come to this call' }
  if (run.isKilled) return { survival: 'crashed', why: `ended with ${run.exit}` }
  const trace = isExitOfCrash(run.exit) ? newCrash(run.stderr, baseline.stderr) : undefined
  if (run.exit !== baseline.exit && trace !== undefined) return { survival: 'crashed', why: trace }
  if (run.leftProcesses && !baseline.leftProcesses)
    return { survival: 'leaked', why: 'left a process behind' }
  if (run.opened - run.closed > baseline.opened - baseline.closed)
    return { survival: 'leaked', why: 'left a session open' }
  if (run.exit !== baseline.exit) return { survival: 'degraded', why: `ended with ${run.exit}` }
  if (!baseline.isSteady || run.stdout === baseline.stdout) return { survival: 'recovered', why: '' }
  const told = newLines(run, baseline).find((line) => SAYS_PROBLEM.test(line))
  if (told !== undefined) return { survival: 'degraded', why: told.trim().slice(0, MAX_WHY_LENGTH) }
  return { survival: 'wrong', why: 'printed something else, and did not say why' }
}

const MAX_WHY_LENGTH = 200
const SAYS_PROBLEM =
  /\b(?:errors?|fail(?:ed|ure|s)?|exception|tim(?:ed|e)[ -]?out|unavailable|invalid|refused|denied|unauthorized|closed|lost|cannot|could not|unknown|retry|retrying|warning)\b/i
const CRASH =
  /^\s+at .+:\d+:\d+\)?$|^Traceback \(most recent call last\)|^panic: |panicked at |^Exception in thread /m

/** The exit codes of unhandled exceptions in Node, Python, Go, Java and Rust. With another code, the client has logged the exception. */
function isExitOfCrash(exit: string): boolean {
  return /^exit code (?:1|2|7|101)$/.test(exit)
}

function newCrash(stderr: string, before: string): string | undefined {
  if (!CRASH.test(stderr) || CRASH.test(before)) return undefined
  const line = stderr.split('\n').find((each) => /error|exception|panic/i.test(each))
  return (line ?? 'an unhandled exception').trim().slice(0, MAX_WHY_LENGTH)
}

function newLines(run: ClientRun, baseline: ClientRun): readonly string[] {
  const known = new Set(`${baseline.stdout}\n${baseline.stderr}`.split('\n'))
  return `${run.stdout}\n${run.stderr}`.split('\n').filter((line) => !known.has(line))
}

function saidBy({ stderr, stdout }: Pick<ClientRun, 'stderr' | 'stdout'>): string {
  const said = (stderr.trim() || stdout.trim()).slice(-MAX_WHY_LENGTH)
  return said === '' ? '' : `; it said: ${said}`
}

/** Runs the client against the served tape. */
class ClientRuns {
  readonly #options: SurvivalOptions
  readonly #transport: 'stdio' | 'http'
  readonly #scratch: string
  #files = 0

  constructor(options: SurvivalOptions, transport: 'stdio' | 'http', scratch: string) {
    this.#options = options
    this.#transport = transport
    this.#scratch = scratch
  }

  async baseline(): Promise<{ readonly baseline: Baseline; readonly notes: readonly string[] }> {
    const [one, other] = [await this.#plain('first'), await this.#plain('second')]
    if (one.isHung || other.isHung)
      throw new ReelayError('USAGE', 'the client does not end without a fault', {
        hint: 'it has to run a session and exit; allow it more time with --timeout',
      })
    if (one.requests.length === 0)
      throw new ReelayError(
        'USAGE',
        `the client sent nothing to the served tape, and ended with ${one.exit}`,
        {
          hint: `check where the client command has ${SERVER_WORD} or ${URL_TEXT}${saidBy(one)}`,
        },
      )
    const failed = [one, other].find(({ exit }) => exit !== 'exit code 0')
    if (failed !== undefined)
      throw new ReelayError('USAGE', `without any fault, the client ends with ${failed.exit}`, {
        hint: `each run is compared with one that works: let the client end with exit code 0 against \`reelay serve ${this.#options.tape}\`${saidBy(failed)}`,
      })
    const isSteady = one.stdout === other.stdout
    return {
      baseline: { ...one, isSteady },
      notes: isSteady ? [] : ['the client prints something else each time, so only its exit code is judged'],
    }
  }

  async run(fault: FaultSetting, tape: string): Promise<ClientRun> {
    return this.#transport === 'http' ? this.#overHttp([fault], tape) : this.#overStdio([fault], tape)
  }

  #plain(name: string): Promise<ClientRun> {
    const tape = join(this.#scratch, `${name}.tape.jsonl`)
    return this.#transport === 'http' ? this.#overHttp([], tape) : this.#overStdio([], tape)
  }

  async #overHttp(faults: readonly FaultSetting[], tape: string): Promise<ClientRun> {
    const { client, seed } = this.#options
    const rules: readonly FaultRule[] = parseFaultRules({ faults })
    const served = await serveHttp({ tape: await loadTape(this.#options.tape), seed })
    const interceptor = new FaultInjector({ rules, seed, transport: 'http' })
    const proxy = await recordHttp({ url: served.url, tape, interceptor })
    try {
      const ended = await this.#runClient(client.map((word) => word.replaceAll(URL_TEXT, proxy.url)))
      await proxy.close()
      const stdout = ended.stdout.replaceAll(proxy.url, URL_TEXT)
      return { ...ended, stdout, ...(await readRun(tape)) }
    } finally {
      await proxy.close()
      await served.close()
    }
  }

  async #overStdio(faults: readonly FaultSetting[], tape: string): Promise<ClientRun> {
    const { client, program, seed } = this.#options
    const file = join(this.#scratch, `${++this.#files}.json`)
    writeFileSync(file, JSON.stringify({ faults }))
    const chaos = ['chaos', '--quiet', '--faults', file, '--seed', String(seed), '-o', tape, '--']
    const server = [...program, ...chaos, ...program, 'serve', this.#options.tape]
    const ended = await this.#runClient(client.flatMap((word) => (word === SERVER_WORD ? server : [word])))
    return { ...ended, ...(await readRun(tape)) }
  }

  async #runClient([file = '', ...args]: readonly string[]): Promise<EndedClient> {
    const { timeoutMs, signal } = this.#options
    const start = await loadSpawn()
    // Its own group, so that what it leaves behind can be found and ended.
    const child = start(file, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    })
    const family = child.pid === undefined ? undefined : new ProcessFamily(child.pid)
    const [stdout, stderr]: [string[], string[]] = [[], []]
    child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
    const closed = new Promise<void>((resolve) => void child.once('close', () => resolve()))
    let isHung = false
    const stop = (): void => family?.signal('SIGKILL')
    const timer = setTimeout(() => {
      isHung = true
      stop()
    }, timeoutMs)
    signal.addEventListener('abort', stop, { once: true })
    const watch = setInterval(() => family?.look(), LOOK_MS)
    try {
      const { code, signal: endSignal } = await new Promise<{
        code: number | null
        signal: NodeJS.Signals | null
      }>((resolve, reject) => {
        child.once('error', (error) => reject(commandStartError(`the client command ${file}`, error)))
        child.once('exit', (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }))
      })
      const leftProcesses = family !== undefined && !isHung && !(await isGone(family))
      stop()
      await closed // its last words may still be in the pipe
      return {
        exit: endSignal === null ? `exit code ${code}` : endSignal,
        isKilled: endSignal !== null,
        isHung,
        leftProcesses,
        stdout: stdout.join(''),
        stderr: stderr.join(''),
      }
    } finally {
      clearTimeout(timer)
      clearInterval(watch)
      signal.removeEventListener('abort', stop)
    }
  }
}

type EndedClient = Omit<ClientRun, 'requests' | 'faults' | 'opened' | 'closed'>

const LOOK_MS = 200
/** A server whose client has ended is given this long to end, too. */
const LEAVE_MS = 6000
const POLL_MS = 20

async function isGone(family: ProcessFamily): Promise<boolean> {
  for (let waited = 0; waited < LEAVE_MS; waited += POLL_MS) {
    if (!family.isAlive()) return true
    await sleep(POLL_MS)
  }
  return false
}

/** What the tape of a run says. A client that never started its server leaves none. */
async function readRun(path: string): Promise<Pick<ClientRun, 'requests' | 'faults' | 'opened' | 'closed'>> {
  const requests: Request[] = []
  const opened = new Set<string>()
  let [faults, closed] = [0, 0]
  try {
    for await (const frame of (await openTape(path)).frames()) {
      if (frame.kind === 'event' && frame.event === 'fault') faults++
      if (frame.kind === 'message' && frame.dir === 'c2s' && isSeenBy(frame, 'client')) {
        const { message } = frame
        if (message.kind === 'request') requests.push(message)
      }
      if (frame.kind !== 'http') continue
      if ('method' in frame.http && frame.http.method === 'DELETE') closed++
      if (!('status' in frame.http) || !isSeenBy(frame, 'server')) continue // not of a fault
      const session = frame.http.headers.find(([name]) => name.toLowerCase() === 'mcp-session-id')?.[1]
      if (session !== undefined) opened.add(session)
    }
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
  }
  return { requests, faults, opened: opened.size, closed }
}

async function inParallel<Item>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items]
  const worker = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}
