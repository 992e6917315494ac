/** How the bytes of a response are written, if not in one piece. */
export interface WirePlan {
  /** Bytes in each piece. */
  readonly pieceBytes?: number
  /** Writes two pieces, with the cut inside a character of several bytes, a JSON token or a server-sent event. */
  readonly cutInside?: 'character' | 'token' | 'event'
  readonly pauseMs?: number
  /** Up to this much is added to each pause. */
  readonly jitterMs?: number
  /** Writes only half of the bytes, and then ends the connection. */
  readonly stop?: 'reset' | 'half-close'
  /** How much later than the last byte the stream ends. */
  readonly closeAfterMs?: number
}

/** The connection, or the body of an HTTP response, that the bytes are written to. */
export interface WirePort {
  readonly write: (bytes: Uint8Array) => void
  /** The response is complete. */
  readonly finish: () => void
  /** Ends the direction to the client; the other one stays open. */
  readonly halfClose: () => void
  /** Ends the connection without a proper close. */
  readonly reset: () => void
}

interface WireContext {
  readonly clock: { after(ms: number, action: () => void): void }
  readonly random: () => number
}

/** Writes the bytes of a response as planned. */
export function sendOnWire(
  bytes: Uint8Array,
  plan: WirePlan,
  port: WirePort,
  { clock, random }: WireContext,
): void {
  const { stop, pauseMs = 0, jitterMs = 0, closeAfterMs = 0 } = plan
  const pieces = piecesOf(stop === undefined ? bytes : bytes.subarray(0, bytes.length >> 1), plan)
  const end = (): void => {
    if (stop === 'reset') port.reset()
    else if (stop === 'half-close') port.halfClose()
    else port.finish()
  }
  const later = (ms: number, action: () => void): void => (ms > 0 ? clock.after(ms, action) : action())
  const writeFrom = (place: number): void => {
    const piece = pieces[place]
    if (piece !== undefined) port.write(piece)
    if (place + 1 >= pieces.length) return later(closeAfterMs, end)
    later(pauseMs + random() * jitterMs, () => writeFrom(place + 1))
  }
  writeFrom(0)
}

function piecesOf(bytes: Uint8Array, { pieceBytes, cutInside }: WirePlan): readonly Uint8Array[] {
  if (cutInside !== undefined) {
    const at = cutPosition(bytes, cutInside)
    return [bytes.subarray(0, at), bytes.subarray(at)]
  }
  // A limit keeps the number of timers small for large responses.
  const size = Math.max(pieceBytes ?? bytes.length, Math.ceil(bytes.length / MAX_PIECES), 1)
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, place) => bytes.subarray(place * size, (place + 1) * size))
}

const MAX_PIECES = 10_000

/** Falls back to the middle if there is nothing to cut. */
function cutPosition(bytes: Uint8Array, inside: NonNullable<WirePlan['cutInside']>): number {
  const middle = bytes.length >> 1
  if (inside === 'event') return Math.max(1, bytes.length - 1)
  if (inside === 'character') {
    const at = bytes.findIndex((byte) => (byte & 0xc0) === 0x80)
    return at > 0 ? at : middle
  }
  const text = new TextDecoder('latin1').decode(bytes)
  const token = /"(?:result|error|jsonrpc)"/.exec(text)
  return token === null ? middle : token.index + 4
}
