import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Gunzip,
  type Inflate,
} from 'node:zlib'
import type { BodySink } from './http/bodies.ts'

/** Whether a compressed body can be put on the tape as what it says. */
export function canDecode(encoding: string): boolean {
  return Object.hasOwn(DECODERS, encoding)
}

/** Hands the decoded bytes on; `track` gets a promise for each body that is still being decoded when its last byte has come. */
export function decodeInto(encoding: string, body: BodySink, track: (done: Promise<void>) => void): BodySink {
  let decoder: Decoder | undefined
  let finish = body.end
  const open = (first: Uint8Array): Decoder => {
    const made = DECODERS[encoding as keyof typeof DECODERS](first)
    made.on('data', body.chunk)
    track(new Promise((done) => made.on('close', done)))
    made.on('end', () => finish())
    made.on('error', body.cut)
    return made
  }
  return {
    chunk: (bytes) => void (decoder ??= open(bytes)).write(bytes),
    end: () => (decoder === undefined ? body.end() : void decoder.end()),
    cut: () => {
      finish = body.cut
      if (decoder === undefined) body.cut()
      else decoder.end()
    },
  }
}

type Decoder = BrotliDecompress | Gunzip | Inflate

// What has come is decoded at once, and a body that was cut off as far as it goes.
const ZLIB = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH }
const BROTLI = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
}

const DECODERS = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  // Some servers send it without the header that the name calls for.
  deflate: (first: Uint8Array) =>
    ((first[0] ?? 0) & 0x0f) === 8 ? createInflate(ZLIB) : createInflateRaw(ZLIB),
  br: () => createBrotliDecompress(BROTLI),
} satisfies Record<string, (first: Uint8Array) => Decoder>
