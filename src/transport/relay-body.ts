import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { EndpointRewriter } from './endpoint-rewrite.ts'
import { headerOf, type HeaderPairs } from './http-heads.ts'

/** Who looks on at a body. Nothing that it does may throw. */
export interface BodyWatcher {
  readonly chunk: (bytes: Uint8Array) => void
  readonly end: () => void
}

export interface BodyRelay {
  readonly from: IncomingMessage
  readonly to: ClientRequest | ServerResponse
  readonly headers: HeaderPairs
  readonly watcher: BodyWatcher
  readonly rewriter?: EndpointRewriter | undefined
  readonly onEnd?: () => void
}

/** Hands a body on as it comes, and has a slow reader slow the writer down. */
export function relayBody({ from, to, headers, watcher, rewriter, onEnd }: BodyRelay): void {
  let left = Number(headerOf(headers, 'content-length') ?? NaN)
  const finish = (last: Uint8Array): void => {
    left = NaN
    watcher.end()
    onEnd?.()
    handLast(last, to)
  }
  from.on('data', (chunk: Buffer) => {
    watcher.chunk(chunk)
    left -= chunk.length
    if (left === 0) return finish(chunk)
    const bytes = rewriter === undefined ? chunk : rewriter.next(chunk)
    if (bytes.length > 0 && !hand(bytes, to)) pauseUntilDrained(from, to)
  })
  from.on('end', () => {
    if (!to.writableEnded) finish(rewriter?.end() ?? NOTHING)
  })
  from.on('error', () => {}) // whoever left is noticed by the close of the exchange
}

const NOTHING = new Uint8Array(0)
const SMALL = 4096

// Node joins a head and a short text into one write; as Latin-1, the text is the same bytes.
function hand(bytes: Uint8Array, to: BodyRelay['to']): boolean {
  return bytes.length > SMALL ? to.write(bytes) : to.write(latin1(bytes), 'latin1')
}

function handLast(bytes: Uint8Array, to: BodyRelay['to']): void {
  if (bytes.length === 0) to.end()
  else if (bytes.length > SMALL) to.end(bytes)
  else to.end(latin1(bytes), 'latin1')
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function pauseUntilDrained(from: IncomingMessage, to: BodyRelay['to']): void {
  from.pause()
  to.once('drain', () => from.resume())
}
