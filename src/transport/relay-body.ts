import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EndpointRewriter } from '../http/proxy/endpoint-rewrite.ts'
import { findHeader, type RawHeaders } from '../http/headers.ts'
import type { UpstreamResponse, UpstreamRequest } from './upstream-request.ts'

/** Who looks on at a body. Nothing that it does may throw. */
export interface BodyWatcher {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
}

export interface RelayBodyOptions {
  readonly from: IncomingMessage | UpstreamResponse
  readonly to: UpstreamRequest | ServerResponse
  readonly headers: RawHeaders
  readonly watcher: BodyWatcher
  readonly rewriter?: EndpointRewriter | undefined
  readonly onEnd?: () => void
}

/** Hands a body on as it comes, and has a slow reader slow the writer down. */
export function relayBody({ from, to, headers, watcher, rewriter, onEnd }: RelayBodyOptions): void {
  let left = Number(findHeader(headers, 'content-length') ?? NaN)
  let isDone = false
  const slowDown = throttle(from, to)
  const finish = (): void => {
    isDone = true
    watcher.end()
    onEnd?.()
  }
  from.on('data', (chunk: Buffer) => {
    const bytes = rewriter === undefined ? chunk : rewriter.next(chunk)
    if (bytes.length > 0 && !writeChunk(bytes, to)) slowDown()
    watcher.chunk(chunk)
    left -= chunk.length
    if (left === 0) finish()
  })
  from.on('end', () => {
    const held = rewriter?.end() ?? NOTHING
    if (held.length > 0) writeChunk(held, to)
    to.end()
    if (!isDone) finish()
  })
  from.on('error', () => {}) // whoever left is noticed by the close of the exchange
}

const NOTHING = new Uint8Array(0)
const SMALL_BYTES = 4096

// Node joins a head and a short text into one write; as Latin-1, the text is the same bytes. With the end it would be two again.
function writeChunk(bytes: Uint8Array, to: RelayBodyOptions['to']): boolean {
  return bytes.length > SMALL_BYTES ? to.write(bytes) : to.write(latin1(bytes), 'latin1')
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

/** What has been read already still comes after a pause, maybe in many pieces: one wait is enough for all of them. */
function throttle(from: RelayBodyOptions['from'], to: RelayBodyOptions['to']): () => void {
  let isWaiting = false
  const goOn = (): void => {
    isWaiting = false
    from.resume()
  }
  return () => {
    if (isWaiting) return
    isWaiting = true
    from.pause()
    to.once('drain', goOn)
  }
}
