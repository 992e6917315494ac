import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { type Readable, type Writable, addAbortSignal } from 'node:stream'
import { sendOnWire, type WirePlan, type WirePort } from '../faults/wire.ts'
import { type Line, lineBytes, LineSplitter } from '../protocol/lines.ts'
import type { SuggestedMatchOptions } from '../match/options.ts'
import { DEFAULT_SEED, seededRandom } from '../seeded-random.ts'
import type { Drift } from './drift.ts'
import { turnStoreOf } from '../tape/turns.ts'
import { playedAs, resolveServer, withHttpFrames } from './playable-tape.ts'
import { clientPause, SystemClock } from './player/clock.ts'
import { createPlayer, type ServedPlayer } from './player/translated-player.ts'
import { sessionPlayerOptions, type ServeOptions, serveCommandLine } from './serve-options.ts'
import type { UpstreamServer } from './upstream/upstream.ts'

export interface ServeStdioOptions extends Omit<ServeOptions, 'clock'> {
  readonly input: Readable
  /** Gets only protocol lines. */
  readonly output: Writable
  /** Ends the run, like the end of the input. */
  readonly signal?: AbortSignal
  /** Answers requests that the tape cannot answer. */
  readonly upstream?: UpstreamServer
  /** Called once with a function that returns the drift so far. */
  readonly onStart?: (drift: () => Drift) => void
  /** Formats the command that would accept a miss. By default that is `reelay serve`. */
  readonly commandFor?: (loosening: SuggestedMatchOptions) => string | undefined
}

/** Serves a tape on a pair of streams. Resolves when the input has ended and all responses are written. */
export async function serveStdio({
  input,
  output,
  signal,
  upstream,
  onStart,
  commandFor,
  ...given
}: ServeStdioOptions): Promise<Drift> {
  const options = { ...given, tape: await withHttpFrames(given.tape) }
  const queue = new OutputQueue(output)
  const clock = new SystemClock()
  const gone = new AbortController()
  const random = seededRandom(given.seed ?? DEFAULT_SEED)
  const as = playedAs(
    options.as,
    turnStoreOf(options.tape.turns),
    resolveServer(options.tape, options.server),
  )
  const player = createPlayer(
    {
      ...sessionPlayerOptions(
        { ...options, clock },
        commandFor ??
          ((loosening) =>
            [
              serveCommandLine(options.name ?? options.tape.path, options.server, loosening),
              ...(options.flags ?? []),
            ].join(' ')),
      ),
      upstream,
      faultActions: () => ({
        disconnect: () => gone.abort('disconnect'),
        wire: (plan) => queue.writeNextAs(plan, clock, random, () => gone.abort('disconnect')),
      }),
      send: (text) => queue.add(text),
      afterClientReads: clientPause(clock),
      clock,
    },
    as,
  )
  // A client that no longer reads has gone.
  output.on('error', () => gone.abort())
  const stop = signal === undefined ? gone.signal : AbortSignal.any([signal, gone.signal])
  stop.addEventListener('abort', () => clock.stop())
  player.start()
  onStart?.(() => player.drift())
  for await (const lines of readInputLines(input, stop)) {
    for (const line of lines) {
      if (!gone.signal.aborted) handleLine(player, line)
      if (queue.isFull) await queue.drained()
    }
  }
  await clock.idle()
  await upstream?.close(stop)
  await queue.flushed()
  if (gone.signal.reason === 'disconnect') output.end()
  return player.drift()
}

function handleLine(player: ServedPlayer, line: InputLine): void {
  if (line.kind === 'text') player.handleText(line.text)
  else player.rejectInvalid({ code: -32700, message: `Parse error: ${line.why}` })
}

type InputLine =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string }

/** Yields the lines of each chunk until the stream ends or fails, or the signal is aborted. */
async function* readInputLines(input: Readable, signal: AbortSignal): AsyncGenerator<readonly InputLine[]> {
  const splitter = new LineSplitter()
  for await (const chunk of chunksOf(input, signal)) yield splitter.split(chunk).map(toInputLine)
  if (!signal.aborted) yield splitter.end().map(toInputLine)
}

async function* chunksOf(input: Readable, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of addAbortSignal(signal, input)) {
      if (chunk instanceof Uint8Array) yield chunk
      else if (typeof chunk === 'string') yield Buffer.from(chunk)
    }
  } catch {
    // A killed client may break its pipe, and an abort interrupts reading: both count as the end of the input.
  }
}

function toInputLine(line: Line): InputLine {
  if (line.isOverlong) return { kind: 'unreadable', why: `a line of ${line.length} bytes` }
  const bytes = lineBytes(line)
  if (!isUtf8(bytes)) return { kind: 'unreadable', why: 'not UTF-8' }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
  return { kind: 'text', text }
}

const FLUSH_BYTES = 64 * 1024

/** Writes lines to a stream: lines of the same tick in one write, and with backpressure for a slow reader. */
class OutputQueue {
  readonly #output: Writable
  #lines = ''
  #writeNext: ((line: string) => void) | undefined
  /** Lines that wait until another one is written piece by piece. */
  #waiting: string[] | undefined

  constructor(output: Writable) {
    this.#output = output
  }

  /** Writes the next line in the way of a fault. */
  writeNextAs(plan: WirePlan, clock: SystemClock, random: () => number, disconnect: () => void): void {
    this.#writeNext = (line) => {
      this.#flush()
      this.#waiting = []
      const port: WirePort = {
        write: (bytes) => void (this.#output.destroyed || this.#output.write(bytes)),
        finish: () => {
          const waiting = this.#waiting ?? []
          this.#waiting = undefined
          for (const each of waiting) this.add(each)
        },
        halfClose: () => this.#output.end(),
        reset: disconnect,
      }
      sendOnWire(Buffer.from(`${line}\n`), plan, port, { clock, random })
    }
  }

  add(line: string): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(line)
    const write = this.#writeNext
    this.#writeNext = undefined
    if (write !== undefined) return write(line)
    if (this.#lines === '') queueMicrotask(() => this.#flush())
    this.#lines += `${line}\n`
    if (this.#lines.length >= FLUSH_BYTES) this.#flush()
  }

  /** True if the reader is behind. */
  get isFull(): boolean {
    return this.#output.writableNeedDrain
  }

  /** Resolves when the reader has caught up, or is gone. */
  async drained(): Promise<void> {
    // A reader that goes away is not an error here: the input ends too.
    if (this.isFull && !this.#output.destroyed) await once(this.#output, 'drain').catch(() => {})
  }

  /** Resolves when everything is written. */
  async flushed(): Promise<void> {
    this.#flush()
    if (this.#output.destroyed) return
    if (this.#output.writableEnded) return
    await new Promise<void>((resolve) => this.#output.write('', () => resolve()))
  }

  #flush(): void {
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '' && this.#output.writable) this.#output.write(lines)
  }
}
