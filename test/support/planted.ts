import fc from 'fast-check'

/** A secret as it may turn up, and how a text would name it where its looks do not tell. */
export interface Planted {
  readonly kind: string
  readonly value: string
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const word = (alphabet: string, length: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...alphabet.split('')), minLength: length, maxLength: length })
const alnum = (length: number): fc.Arbitrary<string> => word(`${LETTERS}0123456789`, length)
const hex = (length: number): fc.Arbitrary<string> => word('0123456789abcdef', length)
const base64 = (text: string): string => Buffer.from(text).toString('base64url')

/** What can be told by its looks, wherever it stands. */
const BY_LOOKS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  github: alnum(36).map((rest) => `ghp_${rest}`),
  'github-pat': alnum(60).map((rest) => `github_pat_${rest}`),
  gitlab: alnum(20).map((rest) => `glpat-${rest}`),
  anthropic: alnum(80).map((rest) => `sk-ant-api03-${rest}`),
  openai: alnum(48).map((rest) => `sk-proj-${rest}`),
  aws: word('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', 16).map((rest) => `AKIA${rest}`),
  google: alnum(35).map((rest) => `AIza${rest}`),
  slack: fc.tuple(word('0123456789', 12), alnum(24)).map(([id, rest]) => `xoxb-${id}-${rest}`),
  stripe: alnum(24).map((rest) => `sk_live_${rest}`),
  npm: alnum(36).map((rest) => `npm_${rest}`),
  sendgrid: fc.tuple(alnum(22), alnum(43)).map(([id, rest]) => `SG.${id}.${rest}`),
  'hugging-face': alnum(34).map((rest) => `hf_${rest}`),
  linear: alnum(40).map((rest) => `lin_api_${rest}`),
  notion: alnum(46).map((rest) => `ntn_${rest}`),
  jwt: fc
    .tuple(alnum(12), alnum(43))
    .map(([sub, sign]) => `${base64('{"alg":"HS256"}')}.${base64(JSON.stringify({ sub }))}.${sign}`),
  pem: word(`${LETTERS}0123456789+/`, 128).map(
    (body) =>
      `-----BEGIN PRIVATE KEY-----\n${body.slice(0, 64)}\n${body.slice(64)}\n-----END PRIVATE KEY-----`,
  ),
}

/** What must be named, or known from the environment. */
const BY_NAME: Readonly<Record<string, fc.Arbitrary<string>>> = {
  password: fc
    .tuple(alnum(9), fc.constantFrom('!', '"', '\\', 'é', '/', '+', ' ', '&'))
    .map(([rest, odd]) => `7${rest}${odd}x`),
  hex: hex(32).map((rest) => `a1${rest}`),
  uuid: fc.uuid(),
}

export const LOOKS: fc.Arbitrary<Planted> = oneOfKinds(BY_LOOKS)
export const NAMED: fc.Arbitrary<Planted> = oneOfKinds(BY_NAME)

function oneOfKinds(kinds: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<Planted> {
  return fc.oneof(
    ...Object.entries(kinds).map(([kind, value]) => value.map((each) => ({ kind, value: each }))),
  )
}

/** Each way in which a value could be read from a file; base64 without what depends on the neighbours. */
function spellings(value: string): readonly string[] {
  const escaped = JSON.stringify(value).slice(1, -1)
  const bytes = Buffer.from(value)
  const offsets = [0, 1, 2].map((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    return whole.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6))
  })
  return [
    value,
    escaped,
    JSON.stringify(escaped).slice(1, -1),
    encodeURIComponent(value),
    ...offsets,
    ...offsets.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
  ]
}

/** The spellings of these values that a text holds. */
export function leaks(text: string, planted: readonly Planted[]): readonly string[] {
  return planted.flatMap(({ kind, value }) =>
    spellings(value)
      .filter((spelling) => text.includes(spelling))
      .map((spelling) => `${kind}: ${spelling}`),
  )
}
