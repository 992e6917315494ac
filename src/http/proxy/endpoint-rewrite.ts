export interface EndpointRewriter {
  /** What is to be handed on now. */
  readonly next: (chunk: Uint8Array) => Uint8Array
  /** What was still held when the stream ended. */
  readonly end: () => Uint8Array
}

const NOTHING = Buffer.alloc(0)
const ENDPOINT_START = /^\uFEFF?event: ?endpoint\r?\n/
const ENDPOINT_EVENT = /^\uFEFF?event: ?endpoint(\r?\n)data: ?([^\r\n]*)\1\1/
const MAX_HELD_LENGTH = 8192

/**
 * Makes the endpoint that a legacy HTTP+SSE server names reachable through us: clients refuse one of another origin than
 * the stream's. Only the very first event can be it, only while the bytes look like it are they held, and a relative
 * endpoint stays as it is.
 */
export function endpointRewriter(from: string, to: string): EndpointRewriter {
  let held: Buffer | undefined = NOTHING
  const release = (bytes: Uint8Array): Uint8Array => {
    held = undefined
    return bytes
  }
  return {
    next(chunk) {
      if (held === undefined) return chunk
      held = Buffer.concat([held, chunk])
      const text = held.toString('latin1').replace('\u00EF\u00BB\u00BF', '\uFEFF')
      if (ENDPOINT_EVENT.test(text)) return release(rewriteEndpoint(held, from, to))
      return mayBecomeEndpoint(text) ? NOTHING : release(held)
    },
    end: () => release(held ?? NOTHING),
  }
}

function mayBecomeEndpoint(text: string): boolean {
  if (text.length > MAX_HELD_LENGTH) return false
  if (ENDPOINT_START.test(text)) return !/\r?\n\r?\n/.test(text)
  return ['event: endpoint\r\n', 'event:endpoint\r\n'].some((opening) => opening.startsWith(text))
}

function rewriteEndpoint(bytes: Buffer, from: string, to: string): Uint8Array {
  const data = /data: ?/.exec(bytes.toString('latin1'))
  const start = (data?.index ?? 0) + (data?.[0].length ?? 0)
  const isAbsolute = bytes.subarray(start, start + from.length).toString('latin1') === from
  const next = String.fromCharCode(bytes[start + from.length] ?? 0)
  if (!isAbsolute || !'/?\r\n'.includes(next)) return bytes
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(to), bytes.subarray(start + from.length)])
}
