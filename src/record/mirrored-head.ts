import type { RawHeaders } from '../http/headers.ts'
import { BoundedBytes } from '../wire/bounded-bytes.ts'
import type { BodySink } from './http/bodies.ts'

/** Whether a head repeats arguments of its body, under names that need not say what they are. */
export function hasMirroredParams(headers: RawHeaders): boolean {
  return headers.some((name, at) => at % 2 === 0 && name.toLowerCase().startsWith('mcp-param-'))
}

export interface DeferredHead {
  /** Looks at a body, which says by its names what is secret. */
  readonly learn: (text: string) => void
  readonly putHead: () => void
  readonly maxBytes: number
}

/** The body of a request whose head waits for it, and then goes on the tape before it. */
export function withDeferredHead(body: BodySink, { learn, putHead, maxBytes }: DeferredHead): BodySink {
  const seen = new BoundedBytes(maxBytes)
  let isWaiting = true
  const put = (): void => {
    if (isWaiting) putHead()
    isWaiting = false
  }
  return {
    chunk: (bytes) => {
      seen.add(bytes)
      body.chunk(bytes)
    },
    end: () => {
      if (isWaiting) learn(Buffer.concat(seen.parts).toString())
      put()
      body.end()
    },
    cut: () => {
      put()
      body.cut()
    },
  }
}
