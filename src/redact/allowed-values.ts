/**
 * Returns true if these patterns would allow secrets of most kinds, as `/.+/`, `/\w/` and `/^[^ ]{8,}$/` do. What a pattern
 * matches is found by trying it: there are too many ways to write one that matches everything.
 */
export function allowsAlmostAnything(patterns: readonly RegExp[]): boolean {
  const matched = SAMPLES.filter((sample) => patterns.some((pattern) => isMatch(pattern, sample)))
  return matched.length * MAX_SHARE >= SAMPLES.length
}

/** A pattern for one form of value, such as a hash, a UUID or a number, matches fewer than one in this many samples. */
const MAX_SHARE = 3

/** A global or sticky pattern would start where its last match ended. */
function isMatch(pattern: RegExp, text: string): boolean {
  pattern.lastIndex = 0
  return pattern.test(text)
}

/** One secret of each form. They are put together here, so that scanners do not take this file for a leak. */
const SAMPLES: readonly string[] = [
  'qzvkwhtrjpl',
  'WJQXKZPVTR',
  'Hunter2xyz',
  'mR7!kq#Z',
  'tangled velvet orbit mustard',
  '907315',
  '58203947116402',
  '9f3c71e08ab4d265',
  '3e7b0c95d1f8264a9be05c73f1d8a642e9b70c35',
  '6b1d0c3e-82f7-4a59-b9c4-07e3f15d8a26',
  'kT9+vQ/4xBn7WmZcR2hLs0==',
  'Yp-3fKx_8RzVn1tQwE6uJdM',
  ['ghp', 'R4tY7uIoP0aSdFgHjKlZxCvBnM2qWeE5'].join('_'),
  ['AKIA', 'X7QJ2MZV5TRWKP3N'].join(''),
  ['sk', 'ant', 'api03', 'u8Jm2Xq7Lw'].join('-'),
  ['xoxb', '271828182845', 'nVbRtYq'].join('-'),
  ['glpat', 'zX9cV8bN7mK6jH5g'].join('-'),
  ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiI0MiJ9', 'dQw4w9WgXcQ'].join('.'),
  ['SG', 'pLmOkNiJbUhVyGcT', 'fXdRzEsWaQ1'].join('.'),
  '7301846925:AAFq8Zt2LmXv',
  'postgres://ada:tr0ub4dor&3@db.internal/main',
  'Zoë§geheim€42',
  ['-----BEGIN', 'PRIVATE', 'KEY-----\nMIIEvQIBADANBg\n-----END'].join(' '),
  '(unlisted) [value] {9}',
]
