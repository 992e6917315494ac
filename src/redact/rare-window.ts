/** Where the bytes of a pattern begin, of which so many pairs are the least common in texts; a character stands for each byte. */
export function rarestWindow(bytes: string, width: number): number {
  const last = Math.min(bytes.length - width, MAX_WINDOW_START)
  let common = 0
  for (let at = 0; at < width - 1; at++) common += pairFrequencyAt(bytes, at)
  let best = 0
  let least = common
  for (let at = 1; at <= last && least > RARE_ENOUGH; at++) {
    common += pairFrequencyAt(bytes, at + width - 2) - pairFrequencyAt(bytes, at - 1)
    if (common >= least) continue
    best = at
    least = common
  }
  return best
}

const MAX_WINDOW_START = 24
/** Rare enough to look no further: every recorder does this for hundreds of patterns before it hands the first message on. */
const RARE_ENOUGH = 100
const LOWER_A = 0x61
const LETTER = 31

function pairFrequencyAt(bytes: string, at: number): number {
  const first = bytes.charCodeAt(at)
  const second = bytes.charCodeAt(at + 1)
  if (first === second || first === SPACE || second === SPACE) return 200 // lines, tables, and words that end
  if (first < LOWER_A || second < LOWER_A) return 1
  const pair = PAIR_FREQUENCY[((first & LETTER) << 5) | (second & LETTER)]!
  return pair + LETTER_RANKS[first & LETTER]! * LETTER_RANKS[second & LETTER]!
}

const SPACE = 0x20
/** Of the letters: the higher, the more common. */
const LETTER_RANKS = new Uint8Array(32).fill(2)
const LETTERS_BY_RANK = 'zxqjkgbvpywfmculdrhsnioate'
for (let rank = 0; rank < LETTERS_BY_RANK.length; rank++)
  LETTER_RANKS[LETTERS_BY_RANK.charCodeAt(rank) & LETTER] = rank + 3
const PAIR_FREQUENCY = new Uint16Array(1024)
/** The most common pairs of letters, the commonest last. */
const COMMON_PAIRS =
  'ottauromsimabellchliceraeaneicrorihidemecoveleioouashasengnttostaralitisedofteorestindenatonreanerinheth'
for (let at = 0; at + 1 < COMMON_PAIRS.length; at += 2)
  PAIR_FREQUENCY[((COMMON_PAIRS.charCodeAt(at) & LETTER) << 5) | (COMMON_PAIRS.charCodeAt(at + 1) & LETTER)] =
    500 + at * 10
