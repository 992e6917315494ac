/** A stretch of a text that may be a value of its own. */
export interface Piece {
  readonly start: number
  readonly end: number
}

// A long text is prose or a document: its first words say whether it holds a handle.
const MOST_RUNS = 400
const LONGEST_PIECE = 12

/**
 * The stretches of a text that start and end at the edge of a run of letters and digits: tokens, parts of a composite,
 * segments and query values of a URI, folders of a path. The longest come first, because a uuid is no five handles.
 */
export function piecesOf(text: string, accepts: (length: number) => boolean = () => true): readonly Piece[] {
  const runs = [...text.matchAll(/[\p{L}\p{N}]+/gu)].map(({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }))
  const pieces: Piece[] = []
  for (let size = Math.min(LONGEST_PIECE, runs.length); size > 0; size--) {
    for (let first = 0; first + size <= runs.length; first++) {
      const [start, end] = [runs[first]?.start ?? 0, runs[first + size - 1]?.end ?? 0]
      for (const piece of spellings(text, start, end))
        if (accepts(piece.end - piece.start)) pieces.push(piece)
    }
  }
  return pieces
}

/** Whether a text is too long to be looked at piece by piece. */
export function isLong(text: string): boolean {
  return text.length > MOST_RUNS * 16
}

// An absolute path starts with its slash, and base64 may end in its padding.
function spellings(text: string, start: number, end: number): readonly Piece[] {
  const pieces = [{ start, end }]
  if (/(^|[\s"'`=(]|:\/\/)\/$/.test(text.slice(Math.max(0, start - 5), start)))
    pieces.unshift({ start: start - 1, end })
  const padding = /^={1,2}(?![\p{L}\p{N}])/u.exec(text.slice(end, end + 3))
  if (padding !== null) pieces.unshift({ start, end: end + padding[0].length })
  return pieces
}

/** The words that name a piece: what stands right before it in its text. */
export function labelBefore(text: string, start: number): readonly string[] {
  const lead = text.slice(Math.max(0, start - 40), start)
  return (lead.match(/\p{L}+/gu) ?? []).slice(-3)
}
