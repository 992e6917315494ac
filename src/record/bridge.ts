import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Bridge } from '../link/bridge/bridge.ts'
import type { ExchangeWatcher, RequestLine } from '../http/proxy/proxied-exchange.ts'
import { openBridgeTarget } from '../link/bridge/http-requests.ts'
import { parseServerUrl } from '../http/server-url.ts'
import { decodeUtf8, LineSplitter } from '../protocol/lines.ts'
import { createRedaction, openRecordingVault } from './redaction.ts'
import type { RecordingSummary } from './tape-log.ts'
import { createUrlRecorder, addedHeadersOf, type RecordUrlOptions } from './http/url-recorder.ts'

export interface RecordBridgeOptions extends RecordUrlOptions {
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

const POLL_MS = 50
/** How long the client of a pipe that ran out is given its answers. */
const RESPONSE_TIMEOUT_MS = 300_000

/** Is a stdio server to its client and an HTTP client to the server at a URL, and makes a tape of the HTTP. */
export async function recordBridgeSession(options: RecordBridgeOptions): Promise<RecordingSummary> {
  const { client, say } = options
  const url = parseServerUrl(options.url)
  const target = openBridgeTarget(url, addedHeadersOf(options))
  const redaction = createRedaction(options.redact)
  const vault = openRecordingVault(options.redact, options.tape)
  const tape = createUrlRecorder(options, url, { redactor: redaction?.redactor, vault })
  options.onBegin({ path: tape.log.path, failure: tape.log.failure, keyTrouble: redaction?.trouble })
  const toClient = (message: string): void => void client.output.write(`${message}\n`)
  const watch = (line: RequestLine): ExchangeWatcher => {
    tape.settle() // what it belongs to may have been said in this very round
    return tape.watch(line)
  }
  const bridge = new Bridge({ target, watch, toClient, say })
  await readClientInput(options, bridge)
  await waitForResponses(options, bridge)
  await bridge.close()
  target.close()
  await sleep(0) // what was just aborted says so on the tape
  return tape.finish()
}

/** Resolves when the client says no more. */
function readClientInput({ client, say, stop }: RecordBridgeOptions, bridge: Bridge): Promise<void> {
  const splitter = new LineSplitter({
    onLine: (bytes) => {
      const text = decodeUtf8(bytes)
      if (text === undefined) say('the client sent a line that is not UTF-8')
      else if (text.trim() !== '') bridge.sendFromClient(text)
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
async function waitForResponses({ client, stop }: RecordBridgeOptions, bridge: Bridge): Promise<void> {
  const since = performance.now()
  const isOver = (): boolean =>
    stop.aborted || client.isGone() || performance.now() - since > RESPONSE_TIMEOUT_MS
  while (!isOver() && bridge.isAwaitingResponses) await sleep(POLL_MS)
}
