/** Where the bytes of a pattern begin, of which so many pairs are the least common in texts; a character stands for each byte. */
export function rarestWindow(bytes: string, width: number): number {
  const last = Math.min(bytes.length - width, LOOKED_AT)
  let common = 0
  for (let at = 0; at < width - 1; at++) common += commonnessAt(bytes, at)
  let best = 0
  let least = common
  for (let at = 1; at <= last && least > RARE; at++) {
    common += commonnessAt(bytes, at + width - 2) - commonnessAt(bytes, at - 1)
    if (common >= least) continue
    best = at
    least = common
  }
  return best
}

const LOOKED_AT = 24
/** Rare enough to look no further: every recorder does this for hundreds of patterns before it hands the first message on. */
const RARE = 100
const LOWER_A = 0x61
const LETTER = 31

function commonnessAt(bytes: string, at: number): number {
  const first = bytes.charCodeAt(at)
  const second = bytes.charCodeAt(at + 1)
  if (first === second || first === SPACE || second === SPACE) return 200 // lines, tables, and words that end
  if (first < LOWER_A || second < LOWER_A) return 1
  const pair = COMMON[((first & LETTER) << 5) | (second & LETTER)]!
  return pair + RANKS[first & LETTER]! * RANKS[second & LETTER]!
}

const SPACE = 0x20
/** Of the letters: the higher, the more common. */
const RANKS = new Uint8Array(32).fill(2)
const BY_RANK = 'zxqjkgbvpywfmculdrhsnioate'
for (let rank = 0; rank < BY_RANK.length; rank++) RANKS[BY_RANK.charCodeAt(rank) & LETTER] = rank + 3
const COMMON = new Uint16Array(1024)
/** The most common pairs of letters, the commonest last. */
const COMMON_PAIRS =
  'ottauromsimabellchliceraeaneicrorihidemecoveleioouashasengnttostaralitisedofteorestindenatonreanerinheth'
for (let at = 0; at + 1 < COMMON_PAIRS.length; at += 2)
  COMMON[((COMMON_PAIRS.charCodeAt(at) & LETTER) << 5) | (COMMON_PAIRS.charCodeAt(at + 1) & LETTER)] =
    500 + at * 10
