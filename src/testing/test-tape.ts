import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { copyFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ReelayError } from '../errors.ts'
import type { FaultSetting } from '../faults/fault-rules.ts'
import { openLinkTransport } from '../link/link-transport.ts'
import type { AnyTransport } from '../link/sdk-transport.ts'
import { stdioLink } from '../link/stdio.ts'
import { urlLink } from '../link/url-link.ts'
import { recordTransport } from '../record/in-process/record-transport.ts'
import { recordHttp } from '../record/http/record-url.ts'
import { createRecording, type Recording } from '../record/recording.ts'
import { tapeHeader } from '../record/tape-header.ts'
import {
  mergeSessionDrifts,
  REPORT_VARIABLE,
  sumServerDrifts,
  type Drift,
  type ReplayedSession,
  type ReplayedTexts,
} from '../serve/drift.ts'
import { serveHttp } from '../serve/http/serve-http.ts'
import type { Override } from '../serve/overrides.ts'
import { resolveServer, tapeOfNthSession, type PlayableTape } from '../serve/playable-tape.ts'
import { OrderCheck } from '../serve/request-order.ts'
import {
  replayTransport,
  type ReplayTransport,
  type ReplayTransportOptions,
} from '../serve/replay-transport.ts'
import { isCi } from '../serve/upstream/upstream.ts'
import { readMatchFile } from '../store/companion-files.ts'
import { loadTape, openTape } from '../store/file/read.ts'
import { removeExchanges, replaceTapeIfAnswered, whyServersAreSilent } from '../store/file/rewrite.ts'
import type { Turn } from '../tape/turns.ts'
import { escapeControlChars, quoteShellWord } from '../text.ts'
import { LossReporter } from './loss-reporter.ts'
import { SessionCallLog, type SessionCall } from './session-calls.ts'
import { sessionShape, type CallShape } from './session-shape.ts'
import { counted, TapeDifferenceError, usageInTest, type TestDifference } from './tape-difference.ts'
import { chooseMode, type TapeMode } from './tape-mode.ts'
import { tapePathOf, type RunningTest } from './tape-path.ts'

/** The live server: a command, a URL, or a function that makes the transport of an SDK. */
export type LiveServer =
  | (() => AnyTransport)
  | string
  | URL
  | { readonly url: string | URL; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly command: string
      readonly args?: readonly string[]
      readonly env?: Readonly<Record<string, string>>
      readonly cwd?: string
    }

export interface UseTapeOptions extends Omit<ReplayTransportOptions, 'live' | 'mode' | 'name'> {
  /** The live server. It is used only when something is recorded, so a test without one can only replay. */
  readonly live?: LiveServer
  /**
   * `auto` is `once` locally and `none` in CI. `once` records if there is no tape. `none` only replays. `new-episodes` also
   * records requests that the tape cannot answer. `update` does that, and removes exchanges that the test does not use.
   * `rewrite` and `all` record everything again. The default is `auto`; the update option of the test runner means `update`.
   */
  readonly mode?: TapeMode
  /** `any` accepts requests in another order than recorded. The default is `recorded`. */
  readonly requestOrder?: 'recorded' | 'any'
}

/** A program that speaks MCP over stdio, as configurations of clients have it. */
export interface TapeCommand {
  readonly command: string
  // The SDKs ask for a list and an object that they could change.
  readonly args: string[]
  readonly env: Record<string, string>
}

type PlayedTapeOptions = Omit<ReplayTransportOptions, 'drift'> & { readonly tape: PlayableTape }

/** How a session was opened through the tape. */
interface OpenedSession {
  /** What differs from the tape, if the session was played. */
  readonly drift?: () => Drift
  /** The order in which the session has sent its requests. */
  readonly order?: OrderCheck
  readonly close: () => Promise<void>
}

/** The tape of one test. It is recorded or replayed, and kept only if the test passes. */
export class TestTape implements AsyncDisposable {
  readonly path: string
  readonly mode: TapeMode
  /** The test records: there was no tape, or it is recorded again. */
  readonly isRecording: boolean
  /** When the tape was recorded, for fake timers. While recording, it is the time at which the test began. */
  readonly startedAt: Date
  readonly #test: RunningTest
  readonly #options: UseTapeOptions
  /** The file that is written until the test has passed. `undefined` if nothing can be added to the tape. */
  readonly #draft: string | undefined
  readonly #sessions: OpenedSession[] = []
  readonly #players: ReplayTransport[] = []
  readonly #log = new SessionCallLog()
  #recording: Recording | undefined
  #url: Promise<string> | undefined
  #report: string | undefined
  #finished: Promise<void> | undefined

  /** Finds the tape of a test and decides whether it is recorded or replayed. */
  static async open(test: RunningTest, name: string | undefined, options: UseTapeOptions): Promise<TestTape> {
    const path = tapePathOf(test, name)
    const exists = existsSync(path)
    const mode = chooseMode(options.mode, test)
    const records = mode === 'rewrite' || mode === 'all' || (mode !== 'none' && !exists)
    if (records && options.live === undefined) throw noServer(path, exists)
    if (mode === 'none' && !exists) throw noTape(path)
    const writes = records || mode === 'new-episodes' || mode === 'update'
    const draft = writes ? draftOf(path) : undefined
    if (draft !== undefined) mkdirSync(dirname(draft), { recursive: true })
    if (draft !== undefined && !records) await copyFile(path, draft)
    const startedAt = records ? new Date() : new Date((await loadTape(path)).header.started)
    return new TestTape({ path, mode, isRecording: records, startedAt }, { test, options, draft })
  }

  private constructor(
    known: Pick<TestTape, 'path' | 'mode' | 'isRecording' | 'startedAt'>,
    {
      test,
      options,
      draft,
    }: {
      readonly test: RunningTest
      readonly options: UseTapeOptions
      readonly draft: string | undefined
    },
  ) {
    this.path = known.path
    this.mode = known.mode
    this.isRecording = known.isRecording
    this.startedAt = known.startedAt
    this.#test = test
    this.#options = options
    this.#draft = draft
  }

  /** The requests of the test so far, with their results. Only sessions over `transport()` are seen. */
  get calls(): readonly SessionCall[] {
    return this.#log.calls
  }

  /** The calls for a snapshot: requests and responses, without values that change such as times and ids. */
  shape(): readonly CallShape[] {
    return sessionShape(this.#log.calls)
  }

  /** Returns a transport for the `Client` of either SDK. In a replay, no process is started and no socket is opened. */
  async transport(): Promise<AnyTransport & AsyncDisposable> {
    const transport = await (this.isRecording && !this.#isControlled ? this.#recorded() : this.#played())
    return this.#log.watch(transport)
  }

  /** Returns a URL for clients that connect over HTTP. */
  url(): Promise<string> {
    return (this.#url ??= this.#openUrl())
  }

  async #openUrl(): Promise<string> {
    if (this.isRecording && !this.#isControlled) {
      const { url, headers } = this.#liveUrl()
      const recording = await recordHttp({ url, tape: this.#draftPath(), ...(headers && { headers }) })
      this.#sessions.push({ close: async () => void (await recording.close()) })
      return recording.url
    }
    const order = new OrderCheck()
    const served = await serveHttp({
      ...(await this.#playOptions()),
      onPlayed: (turn: Turn) => order.add(turn),
    })
    this.#sessions.push({ drift: served.drift, order, close: served.close })
    return served.url
  }

  /** Returns a command for programs that start their servers. They may start it several times. */
  async command(): Promise<TapeCommand> {
    const reelay = fileURLToPath(new URL('../cli/main.js', import.meta.url))
    if (this.isRecording && !this.#isControlled) {
      const { command, args = [], env = {} } = this.#liveCommand()
      const draft = `${this.#draftPath()}${COMMAND_DRAFT}`
      const words = [reelay, 'record', '--quiet', '--numbered', '-o', draft, '--', command, ...args]
      return { command: process.execPath, args: words, env }
    }
    await this.#prepareDraft()
    this.#report ??= join(tmpdir(), `reelay-test-${process.pid}-${++drafts}`)
    const isLive = this.#draft !== undefined && this.#options.live !== undefined
    const { command = '', args = [], env = {} } = isLive ? this.#liveCommand() : {}
    const words = [
      reelay,
      'serve',
      this.#draft ?? this.path,
      ...serveOptionWords(this.#options, this.#report),
    ]
    return {
      command: process.execPath,
      args: [...words, ...(isLive ? ['--mode', 'new-episodes', '--', command, ...args] : [])],
      env: { ...env, [REPORT_VARIABLE]: this.#report },
    }
  }

  /** Injects faults from now on, before those that were given earlier. */
  injectFaults(...faults: readonly FaultSetting[]): void {
    for (const player of this.#playersToChange()) player.injectFaults(faults)
  }

  /** Overrides responses from now on, before the overrides that were given earlier. */
  override(...overrides: readonly Override[]): void {
    for (const player of this.#playersToChange()) player.override(overrides)
  }

  /** How the played sessions differ from the tape so far. */
  drift(): Drift {
    const [first, ...others] = this.#sessions.flatMap(({ drift }) => (drift === undefined ? [] : [drift()]))
    return first === undefined ? sumServerDrifts([]) : mergeSessionDrifts(first, ...others)
  }

  /** Closes everything that was opened. The test runner calls `finish`, which does this too. */
  async close(): Promise<void> {
    for (const session of this.#sessions) await session.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Ends the test: keeps what was recorded if it has passed, and fails if it differs from the tape. */
  finish(hasPassed: boolean): Promise<void> {
    return (this.#finished ??= this.#finish(hasPassed))
  }

  async #finish(hasPassed: boolean): Promise<void> {
    try {
      await this.close()
      const summary = await this.#recording?.close()
      if (this.isRecording && !hasPassed) return await this.#reportSilentServers()
      if (this.isRecording) return await this.#keepRecording(summary?.secrets ?? 0)
      const difference = this.#difference()
      const { misses, unused, outOfOrder, recorded } = countsOf(difference)
      if (hasPassed && this.mode === 'update' && misses === 0)
        return await this.#keepUpdate({ unused: difference.unusedFrames, recorded })
      if (hasPassed && this.mode === 'new-episodes') await this.#keepUpdate({ unused: [], recorded })
      if (misses === 0 && (!hasPassed || unused + outOfOrder === 0)) return
      if (this.#options.drift === 'ignore' || this.#options.permissive === true) return this.#mention(unused)
      const shown = hasPassed ? difference : onlyMisses(difference)
      throw new TapeDifferenceError(this.#shownPath(), shown, this.#test.update)
    } finally {
      for (const file of this.#drafts()) await rm(file, { force: true })
      for (const ending of this.#report === undefined ? [] : ['', '.faults.json', '.overrides.json'])
        rmSync(`${this.#report}${ending}`, { force: true })
    }
  }

  /** A program that starts the server itself may not say that the server has failed. */
  async #reportSilentServers(): Promise<void> {
    for (const draft of this.#drafts()) {
      const why = await whyServersAreSilent(draft).catch(() => undefined) // an empty file
      if (why !== undefined)
        process.stderr.write(`reelay: nothing was recorded: ${escapeControlChars(why)}\n`)
    }
  }

  async #keepRecording(secrets: number): Promise<void> {
    const draft = this.#draftPath()
    const drafts = this.#drafts()
    if (drafts.length > 1) {
      const { mergeTapes } = await import('../store/file/merge.ts')
      await mergeTapes(drafts, { output: draft, header: tapeHeader })
    }
    const [recorded] = drafts.length > 1 ? [draft] : drafts
    if (recorded === undefined || !(await replaceTapeIfAnswered(recorded, this.path))) return
    const exchanges = counted(await requestsOn(this.path), 'exchange')
    const replaced = secrets === 0 ? '' : ` (${counted(secrets, 'secret')} replaced)`
    process.stderr.write(`reelay: recorded ${exchanges} to ${this.#shownPath()}${replaced}\n`)
  }

  /** What was recorded: each start of `command()` writes a file of its own. */
  #drafts(): readonly string[] {
    if (this.#draft === undefined) return []
    const [folder, name] = [dirname(this.#draft), basename(this.#draft)]
    const isOwn = (file: string): boolean => file === name || file.startsWith(`${name}${COMMAND_DRAFT}`)
    return readdirSync(folder)
      .filter(isOwn)
      .map((file) => join(folder, file))
  }

  /** Removes the exchanges that begin with the frames `unused`, and keeps what was recorded. */
  async #keepUpdate({ unused, recorded }: { unused: readonly number[]; recorded: number }): Promise<void> {
    const draft = this.#draftPath()
    if (unused.length + recorded === 0) return
    if (unused.length > 0) await removeExchanges(draft, unused)
    await rename(draft, this.path)
    const changes = [
      ...(unused.length > 0 ? [`${unused.length} unused removed`] : []),
      ...(recorded > 0 ? [`${recorded} recorded`] : []),
    ]
    process.stderr.write(`reelay: updated ${this.#shownPath()}: ${changes.join(', ')}\n`)
  }

  /** Differences that the test accepts are still worth a line. */
  #mention(unused: number): void {
    if (unused === 0) return
    const count = `${unused} recorded ${unused === 1 ? 'exchange' : 'exchanges'}`
    process.stderr.write(
      `reelay: ${count} unused in ${this.#shownPath()}; ${this.#test.update} removes them\n`,
    )
  }

  #difference(): FoundDifference {
    const isOrdered = this.#options.requestOrder !== 'any'
    const own = this.drift()
    const hasOwn = this.#sessions.some((session) => session.drift !== undefined)
    const sessions = this.#report === undefined ? [] : reportedSessions(this.#report)
    const ended = sessions.flatMap(({ texts, unusedFrames }) =>
      texts && unusedFrames ? [{ texts, unusedFrames }] : [],
    )
    const texts = ended.map((session) => session.texts)
    // A recorded request is unused if no session has sent it.
    const ownFrames = hasOwn ? [own.leftOver.map(({ frame }) => frame)] : []
    const unusedFrames = inAll([...ownFrames, ...ended.map((session) => session.unusedFrames)])
    const drift = { ...own, leftOver: own.leftOver.filter(({ frame }) => unusedFrames.includes(frame)) }
    return {
      ...drift,
      answered: sessions.reduce((sum, { answered }) => sum + answered, drift.answered),
      outOfOrder: isOrdered ? this.#sessions.flatMap(({ order }) => order?.problems ?? []) : [],
      told: {
        misses: sessions.flatMap(({ miss }) => miss ?? []),
        unused: hasOwn ? [] : inAll(texts.map(({ unused }) => unused)),
        outOfOrder: isOrdered ? texts.flatMap(({ outOfOrder }) => outOfOrder) : [],
      },
      unusedFrames,
      toldRecorded: sessions.reduce((sum, { wentLive = 0 }) => sum + wentLive, 0),
    }
  }

  /** Faults and overrides need a player in front of the live server. */
  get #isControlled(): boolean {
    return this.#options.faults !== undefined || this.#options.overrides !== undefined
  }

  #recorded(): AnyTransport & AsyncDisposable {
    this.#recording ??= createRecording({ tape: this.#draftPath() })
    const { server = 'server' } = this.#options
    const losses = new LossReporter()
    const live = this.#liveTransport(losses)
    const recorded = recordTransport(live, { recording: this.#recording, server })
    this.#sessions.push({ close: () => recorded.close() })
    return losses.watch(recorded)
  }

  async #played(): Promise<AnyTransport & AsyncDisposable> {
    const { tape, ...options } = await this.#playOptions()
    const server = resolveServer(tape, options.server)
    const order = new OrderCheck()
    const player = replayTransport(tapeOfNthSession(tape, server, this.#players.length), {
      ...options,
      drift: 'ignore', // the end of the test reports it
      onPlayed: (turn: Turn) => order.add(turn),
      callName: 'useTape',
    })
    this.#players.push(player)
    this.#sessions.push({ drift: () => player.drift(), order, close: () => player.close() })
    return player
  }

  /** A player needs a tape: in the run that records, it begins empty. */
  async #prepareDraft(): Promise<void> {
    if (!this.isRecording || existsSync(this.#draftPath())) return
    const recording = createRecording({ tape: this.#draftPath() })
    recording.link({ server: this.#options.server ?? 'server', info: { transport: 'in-process' } })
    await recording.close()
  }

  async #playOptions(): Promise<PlayedTapeOptions> {
    await this.#prepareDraft()
    const { live, mode: _mode, drift: _drift, requestOrder: _order, ...options } = this.#options
    const tape = await loadTape(this.#draft ?? this.path)
    const matchFile = await readMatchFile(this.path) // the draft has none beside it
    const upstream =
      this.#draft === undefined || live === undefined
        ? { mode: 'none' as const }
        : { live: () => this.#liveTransport(), mode: 'new-episodes' as const }
    return {
      ...options,
      ...upstream,
      name: this.#shownPath(),
      tape: matchFile === undefined ? tape : { ...tape, matchFile },
    }
  }

  #playersToChange(): readonly ReplayTransport[] {
    if (this.#players.length > 0) return this.#players
    throw usageInTest(
      'faults and overrides need an open transport that is played',
      'call tape.transport() first, and pass { faults: [] } to useTape, so that the recording run can inject faults too',
    )
  }

  #draftPath(): string {
    if (this.#draft === undefined) throw new Error('nothing is written in this mode')
    return this.#draft
  }

  #shownPath(): string {
    const path = relative(process.cwd(), this.path)
    return path.startsWith('..') ? this.path : path
  }

  #liveTransport(losses = new LossReporter()): AnyTransport {
    const { live } = this.#options
    if (live === undefined) throw noServer(this.path, true)
    if (typeof live === 'function') return live()
    if (typeof live === 'object' && 'command' in live) {
      const { command, args = [], env, cwd } = live
      const options = { ...(env && { env: { ...process.env, ...env } }), ...(cwd !== undefined && { cwd }) }
      const words = [command, ...args].map(quoteShellWord).join(' ')
      const link = stdioLink({ command: [command, ...args], onStderr: losses.addStderr, ...options })
      return openLinkTransport(link, losses.handlersFor(words))
    }
    const { url, headers = {} } = this.#liveUrl()
    return openLinkTransport(urlLink({ url: new URL(url), headers }), losses.handlersFor(url))
  }

  #liveUrl(): { readonly url: string; readonly headers?: Readonly<Record<string, string>> } {
    const { live } = this.#options
    if (typeof live === 'string' || live instanceof URL) return { url: String(live) }
    if (typeof live === 'object' && 'url' in live) return { ...live, url: String(live.url) }
    throw wrongServer('tape.url() records a server that has a URL', "{ live: 'http://localhost:3000/mcp' }")
  }

  #liveCommand(): Extract<LiveServer, { readonly command: string }> {
    const { live } = this.#options
    if (typeof live === 'object' && 'command' in live) return live
    throw wrongServer(
      'tape.command() records a server that is started by a command',
      "{ live: { command: 'node', args: ['server.js'] } }",
    )
  }
}

let drafts = 0

/** What the drafts of programs that started the server have in their names, after that of the test's own draft. */
const COMMAND_DRAFT = '-started'

/** The items that are in every list. */
function inAll<Item>([first = [], ...others]: readonly (readonly Item[])[]): readonly Item[] {
  return first.filter((item) => others.every((list) => list.includes(item)))
}

async function requestsOn(path: string): Promise<number> {
  let count = 0
  for await (const frame of (await openTape(path)).frames())
    if (frame.kind === 'message' && frame.dir === 'c2s' && frame.message.kind === 'request') count++
  return count
}

function draftOf(path: string): string {
  return `${path}.${process.pid}-${++drafts}.new`
}

interface FoundDifference extends TestDifference {
  readonly told: ReplayedTexts
  /** The frames of all requests that no session has sent. */
  readonly unusedFrames: readonly number[]
  /** How many requests live servers answered in sessions of other processes. */
  readonly toldRecorded: number
}

function countsOf({ misses, outOfOrder, told, unusedFrames, wentLive = [], toldRecorded }: FoundDifference): {
  readonly misses: number
  readonly unused: number
  readonly outOfOrder: number
  readonly recorded: number
} {
  return {
    misses: misses.length + told.misses.length,
    unused: unusedFrames.length,
    outOfOrder: outOfOrder.length + told.outOfOrder.length,
    recorded: wentLive.length + toldRecorded,
  }
}

/** If the test itself has failed, what it did not send any more says nothing. */
function onlyMisses(difference: FoundDifference): TestDifference {
  const told = { ...difference.told, unused: [], outOfOrder: [] }
  return { ...difference, leftOver: [], outOfOrder: [], told }
}

/** The sessions that other processes were played, as they have reported them. */
function reportedSessions(file: string): readonly ReplayedSession[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as ReplayedSession)
}

const COMMAND_OPTIONS: readonly string[] =
  'live mode drift requestOrder faults overrides match rules ignore permissive server'.split(' ')

/** The options of `reelay serve` that mean the same. Faults and overrides are written to files beside `base`. */
function serveOptionWords(options: UseTapeOptions, base: string): readonly string[] {
  const { faults, overrides, match, rules = [], ignore = [], permissive, server } = options
  const unknown = Object.keys(options).find((name) => !COMMAND_OPTIONS.includes(name))
  if (unknown !== undefined)
    throw usageInTest(`tape.command() does not know the option ${unknown}`, 'use tape.transport() with it')
  const written = (ending: string, content: object): string => {
    const file = `${base}.${ending}.json`
    writeFileSync(file, JSON.stringify(content))
    return file
  }
  return [
    ...(faults === undefined ? [] : ['--faults', written('faults', { faults })]),
    ...(overrides === undefined ? [] : ['--override', written('overrides', { overrides })]),
    ...(match === undefined ? [] : ['--match', match]),
    ...rules.flatMap((rule) => ['--rule', rule]),
    ...ignore.flatMap((path) => ['--ignore', path]),
    ...(permissive === true ? ['--permissive'] : []),
    ...(server === undefined ? [] : ['--server', server]),
  ]
}

function noTape(path: string): ReelayError {
  const why = isCi() ? ', and nothing is recorded in CI' : ', and the mode is none'
  return usageInTest(
    `there is no tape ${path}${why}`,
    'run the test locally once, where the server is, and commit the tape',
    'TAPE_NOT_FOUND',
  )
}

function noServer(path: string, exists: boolean): ReelayError {
  const why = exists ? 'it is to be recorded again' : 'it does not exist yet'
  return usageInTest(
    `the tape ${path} cannot be recorded: useTape has no live server`,
    `${why}; pass { live: { command: 'node', args: ['server.js'] } }, a URL, or a function that makes a transport`,
  )
}

function wrongServer(message: string, example: string): ReelayError {
  return usageInTest(message, `pass it as in useTape(name, ${example})`)
}
