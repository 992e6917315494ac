/** A TCP segment of a capture. */
export interface CapturedSegment {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly from: string
  readonly to: string
  readonly seq: number
  readonly isSyn: boolean
  readonly isFin: boolean
  readonly isReset: boolean
  readonly data: Uint8Array
}

/** Receives the bytes of each direction in order. */
export interface StreamReader {
  readonly data: (flow: TcpFlow, bytes: Uint8Array, at: number) => void
  /** Bytes are missing from the capture here. */
  readonly gap: (flow: TcpFlow) => void
  readonly end: (flow: TcpFlow, at: number) => void
}

/** One direction of a connection. */
export interface TcpFlow {
  readonly from: string
  readonly to: string
  /** Distinguishes connections that use the same ports one after the other. */
  readonly connection: number
}

/** Puts the segments of each connection in order. Repeated and overlapping bytes count once. */
export class TcpStreams {
  readonly #reader: StreamReader
  readonly #flows = new Map<string, FlowState>()
  #connections = 0
  #lost = 0

  constructor(reader: StreamReader) {
    this.#reader = reader
  }

  /** Bytes that are missing from the capture. */
  get lost(): number {
    return this.#lost
  }

  add(segment: CapturedSegment): void {
    const state = this.#flowOf(segment)
    if (segment.isSyn) state.next ??= (segment.seq + 1) >>> 0
    state.next ??= segment.seq
    if (segment.data.length > 0) {
      const seq = segment.isSyn ? (segment.seq + 1) >>> 0 : segment.seq
      this.#insert(state, { seq, at: segment.at, data: segment.data })
      this.#deliver(state)
      if (state.waitingBytes > MAX_WAITING_BYTES) this.#skipGap(state)
    }
    if (segment.isFin || segment.isReset) this.#finish(state, segment.at)
  }

  /** The capture is over: what waits for missing bytes is delivered without them. */
  end(): void {
    for (const state of this.#flows.values()) this.#finish(state, state.at)
  }

  #finish(state: FlowState, at: number): void {
    if (state.isOver) return
    while (state.waiting.length > 0) this.#skipGap(state)
    this.#reader.end(state.flow, at)
    state.isOver = true
  }

  #flowOf({ from, to, isSyn, at }: CapturedSegment): FlowState {
    const known = this.#flows.get(`${from} ${to}`)
    const back = this.#flows.get(`${to} ${from}`)
    if (known !== undefined && !(isSyn && (known.isOver || known.hasData))) {
      known.at = at
      return known
    }
    if (known !== undefined) this.#finish(known, at)
    // The other direction of the same connection may have begun already.
    const isAnswer = back !== undefined && !back.isOver && known?.flow.connection !== back.flow.connection
    const connection = isAnswer ? back.flow.connection : ++this.#connections
    const state: FlowState = {
      flow: { from, to, connection },
      next: undefined,
      waiting: [],
      waitingBytes: 0,
      hasData: false,
      isOver: false,
      at,
    }
    this.#flows.set(`${from} ${to}`, state)
    return state
  }

  #insert(state: FlowState, piece: WaitingPiece): void {
    const after = state.waiting.findIndex(({ seq }) => distance(piece.seq, seq) > 0)
    state.waiting.splice(after < 0 ? state.waiting.length : after, 0, piece)
    state.waitingBytes += piece.data.length
    state.hasData = true
  }

  #deliver(state: FlowState): void {
    for (let [first] = state.waiting; first !== undefined; [first] = state.waiting) {
      const ahead = distance(state.next ?? first.seq, first.seq)
      if (ahead > 0) return
      state.waiting.shift()
      state.waitingBytes -= first.data.length
      const fresh = first.data.subarray(-ahead)
      if (-ahead >= first.data.length) continue
      state.next = (first.seq + first.data.length) >>> 0
      this.#reader.data(state.flow, fresh, first.at)
    }
  }

  #skipGap(state: FlowState): void {
    const [first] = state.waiting
    if (first === undefined) return
    this.#lost += Math.max(0, distance(state.next ?? first.seq, first.seq))
    state.next = first.seq
    this.#reader.gap(state.flow)
    this.#deliver(state)
  }
}

interface WaitingPiece {
  readonly seq: number
  readonly at: number
  readonly data: Uint8Array
}

interface FlowState {
  readonly flow: TcpFlow
  /** The sequence number of the next byte. */
  next: number | undefined
  /** Segments after a gap, by their sequence numbers. */
  readonly waiting: WaitingPiece[]
  waitingBytes: number
  hasData: boolean
  isOver: boolean
  at: number
}

/** Segments after a gap wait for this many bytes. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024

/** How far `to` is after `from`. Sequence numbers start again after 32 bits. */
function distance(from: number, to: number): number {
  return (to - from) | 0
}
