import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Bridge } from '../bridge/bridge.ts'
import type { ExchangeWatcher, RequestLine } from '../transport/http-passage.ts'
import { openRequests } from '../bridge/requests.ts'
import { readTarget } from '../transport/target.ts'
import { decodeUtf8, LineSplitter } from '../wire/lines.ts'
import { redactionFor } from './redaction.ts'
import type { Summary } from './recording-summary.ts'
import { vaultFor } from './vault-for.ts'
import { openUrlTape, ownHeaders, type UrlTapeOptions } from './url-tape.ts'

export interface RecordBridgeOptions extends UrlTapeOptions {
  /** The client's side: lines of JSON. */
  readonly client: { readonly input: Readable; readonly output: Writable; readonly isGone: () => boolean }
  /** Told when the tape is there, or why it is not. */
  readonly onBegin: (begun: {
    readonly path: string | undefined
    readonly failure: string | undefined
    readonly keyTrouble: string | undefined
  }) => void
  /** For people. */
  readonly say: (words: string) => void
  /** Ends the session. */
  readonly stop: AbortSignal
}

const LOOK_EVERY = 50
/** How long the client of a pipe that ran out is given its answers. */
const PATIENCE_MS = 300_000

/** Is a stdio server to its client and an HTTP client to the server at a URL, and makes a tape of the HTTP. */
export async function recordBridge(options: RecordBridgeOptions): Promise<Summary> {
  const { client, say } = options
  const url = readTarget(options.url)
  const target = openRequests(url, ownHeaders(options))
  const redaction = redactionFor(options.redact)
  const vault = vaultFor(options.redact, options.tape)
  const tape = openUrlTape(options, url, { redactor: redaction?.redactor, vault })
  options.onBegin({ path: tape.log.path, failure: tape.log.failure, keyTrouble: redaction?.trouble })
  const toClient = (message: string): void => void client.output.write(`${message}\n`)
  const watch = (line: RequestLine): ExchangeWatcher => {
    tape.settle() // what it belongs to may have been said in this very round
    return tape.watch(line)
  }
  const bridge = new Bridge({ target, watch, toClient, say })
  await inputOver(options, bridge)
  await answersGiven(options, bridge)
  await bridge.close()
  target.close()
  await sleep(0) // what was just aborted says so on the tape
  return tape.finish()
}

/** Resolves when the client says no more. */
function inputOver({ client, say, stop }: RecordBridgeOptions, bridge: Bridge): Promise<void> {
  const splitter = new LineSplitter({
    onLine: (bytes) => {
      const text = decodeUtf8(bytes)
      if (text === undefined) say('the client sent a line that is not UTF-8')
      else if (text.trim() !== '') bridge.take(text)
    },
    onOverlong: (_head, total) => say(`the client sent a line of ${total} bytes, which is too long`),
  })
  return new Promise((resolve) => {
    client.input.on('data', (chunk: Buffer) => splitter.push(chunk))
    client.input.once('end', () => {
      splitter.end()
      resolve()
    })
    client.input.once('close', resolve)
    client.input.on('error', () => resolve())
    stop.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** A client that closes our input may still read: what it is owed is waited for, unless it is gone. */
async function answersGiven({ client, stop }: RecordBridgeOptions, bridge: Bridge): Promise<void> {
  const since = performance.now()
  const isOver = (): boolean => stop.aborted || client.isGone() || performance.now() - since > PATIENCE_MS
  while (!isOver() && bridge.isOwing) await sleep(LOOK_EVERY)
}
