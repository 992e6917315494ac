import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { type Readable, type Writable, addAbortSignal } from 'node:stream'
import { type Line, lineBytes, LineSplitter } from '../protocol/lines.ts'
import type { Drift } from './drift.ts'
import { withHttpFrames } from './playable-tape.ts'
import { clientPause, SystemClock } from './player/clock.ts'
import { SessionPlayer } from './player/session-player.ts'
import { sessionPlayerOptions, type ServeOptions } from './serve-options.ts'
import { serveCommandLine } from './suggested-commands.ts'
import type { UpstreamServer } from './upstream/upstream.ts'

export interface ServeStdioOptions extends Omit<ServeOptions, 'clock'> {
  readonly input: Readable
  /** Carries protocol lines and nothing else. */
  readonly output: Writable
  /** Ends the run as the end of the input does. */
  readonly signal?: AbortSignal
  /** Answers what the tape cannot: see `passthroughTo`. */
  readonly upstream?: UpstreamServer
}

/** Is the recorded server on a pair of streams, until the input ends and everything owed is sent. */
export async function serveStdio({
  input,
  output,
  signal,
  upstream,
  ...given
}: ServeStdioOptions): Promise<Drift> {
  const options = { ...given, tape: await withHttpFrames(given.tape) }
  const outbox = new OutputQueue(output)
  const clock = new SystemClock()
  const gone = new AbortController()
  const player = new SessionPlayer({
    ...sessionPlayerOptions({ ...options, clock }, (loosening) =>
      [
        serveCommandLine(options.name ?? options.tape.path, options.server, loosening),
        ...(options.flags ?? []),
      ].join(' '),
    ),
    upstream,
    faultActions: () => ({ disconnect: () => gone.abort('disconnect') }),
    send: (text) => outbox.add(text),
    afterClientReads: clientPause(clock),
  })
  // When the client stops reading, there is nobody left to serve.
  output.on('error', () => gone.abort())
  const stop = signal === undefined ? gone.signal : AbortSignal.any([signal, gone.signal])
  stop.addEventListener('abort', () => clock.stop())
  player.start()
  for await (const lines of readInputLines(input, stop)) {
    for (const line of lines) {
      if (!gone.signal.aborted) handleLine(player, line)
      if (outbox.isFull) await outbox.drained()
    }
  }
  await clock.idle()
  await upstream?.close(stop)
  await outbox.flushed()
  if (gone.signal.reason === 'disconnect') output.end()
  return player.drift()
}

function handleLine(player: SessionPlayer, line: InputLine): void {
  if (line.kind === 'text') player.handleText(line.text)
  else player.rejectInvalid({ code: -32700, message: `Parse error: ${line.why}` })
}

type InputLine =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly why: string }

/** The lines of a stream, those of one chunk at a time, until it ends, breaks off or the signal says stop. */
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
    // A client that is killed may break its pipe instead of closing it, and a stop breaks the reading off: both end the input.
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

/** Lines on their way out: those of one moment leave in one write, and a slow reader is waited for. */
class OutputQueue {
  readonly #output: Writable
  #lines = ''

  constructor(output: Writable) {
    this.#output = output
  }

  add(line: string): void {
    if (this.#lines === '') queueMicrotask(() => this.#flush())
    this.#lines += `${line}\n`
    if (this.#lines.length >= FLUSH_BYTES) this.#flush()
  }

  /** Whether the reader is behind. */
  get isFull(): boolean {
    return this.#output.writableNeedDrain
  }

  /** Waits until the reader has caught up, or is gone. */
  async drained(): Promise<void> {
    // A reader that goes away is no failure here: the end of its input says the same.
    if (this.isFull && !this.#output.destroyed) await once(this.#output, 'drain').catch(() => {})
  }

  /** Waits until everything is handed over. */
  async flushed(): Promise<void> {
    this.#flush()
    if (this.#output.destroyed) return
    await new Promise<void>((resolve) => this.#output.write('', () => resolve()))
  }

  #flush(): void {
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '' && !this.#output.destroyed) this.#output.write(lines)
  }
}
