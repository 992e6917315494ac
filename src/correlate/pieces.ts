import { WORD_RUNS } from './runs.ts'

/** A stretch of a text that may be a value of its own. */
export interface TextPiece {
  readonly start: number
  readonly end: number
}

// A path, a URI or a uuid is made of a few runs; a longer piece is none of them.
const MOST_RUNS = 12

/**
 * The stretches of a text that are meant: each starts and ends at the edge of a run of letters and digits, without a space
 * inside. So tokens, parts of a composite, segments and query values of a URI and folders of a path are found. Of pieces in
 * one place the longest comes first, because a uuid is no five handles.
 */
export function findPieces(text: string, isMeant: (piece: string) => boolean): readonly TextPiece[] {
  return findPiecesByWord(text, (word) => findPiecesInWord(word, isMeant))
}

/** The same for whoever knows the pieces of a word: they hang on nothing around it. */
export function findPiecesByWord(
  text: string,
  inWord: (word: string) => readonly TextPiece[],
): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  for (const { 0: word, index } of text.matchAll(/\S+/g)) {
    for (const { start, end } of inWord(word)) pieces.push({ start: start + index, end: end + index })
  }
  return pieces
}

/** The pieces of one word. */
export function findPiecesInWord(word: string, isMeant: (piece: string) => boolean): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  for (const piece of piecesOfWord(word))
    for (const one of pieceVariants(word, piece))
      if (isMeant(word.slice(one.start, one.end))) pieces.push(one)
  return pieces
}

// Most words of most texts are plain, and are one run.
const PLAIN_WORD = /^[A-Za-z]+(?=[.,;:!?]?$)/

function piecesOfWord(word: string): Iterable<TextPiece> {
  const plain = PLAIN_WORD.exec(word)
  return plain === null ? runCombinations(word) : [{ start: 0, end: plain[0].length }]
}

function* runCombinations(word: string): Iterable<TextPiece> {
  const runs = [...word.matchAll(WORD_RUNS)].map(({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }))
  for (let size = Math.min(MOST_RUNS, runs.length); size > 0; size--) {
    for (let first = 0; first + size <= runs.length; first++)
      yield { start: runs[first]?.start ?? 0, end: runs[first + size - 1]?.end ?? 0 }
  }
}

// An absolute path starts with its slash, and base64 may end in its padding.
function pieceVariants(text: string, piece: TextPiece): readonly TextPiece[] {
  const { start, end } = piece
  if (text[start - 1] !== '/' && text[end] !== '=') return [piece]
  const isPath = /(^|[\s"'`=(]|:\/\/)\/$/.test(text.slice(Math.max(0, start - 5), start))
  const padding = /^={1,2}(?![\p{L}\p{N}])/u.exec(text.slice(end, end + 3))?.[0] ?? ''
  return [
    ...(isPath ? [{ start: start - 1, end }] : []),
    ...(padding === '' ? [] : [{ start, end: end + padding.length }]),
    piece,
  ]
}

/** The words that name a piece: what stands right before it in its text, behind the last number. */
export function labelWordsBefore(text: string, start: number): readonly string[] {
  const lead = text.slice(Math.max(0, start - 40), start).replace(/^.*\p{N}/su, '')
  return (lead.match(/\p{L}+/gu) ?? []).slice(-3)
}
