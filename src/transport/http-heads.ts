/** Names and values as they were spelled, in their order. */
export type HeaderPairs = readonly (readonly [name: string, value: string])[]

// What belongs to one hop and not to the message (RFC 9110, 7.6.1); `Connection` may name more.
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Node's flat list of names and values, in pairs. */
export function pairsOf(raw: readonly string[]): HeaderPairs {
  const pairs: [string, string][] = []
  for (let at = 0; at + 1 < raw.length; at += 2) pairs.push([raw[at]!, raw[at + 1]!])
  return pairs
}

/** What is handed on, flat as Node takes it: spelling, order and repetitions are kept. */
export function handedOn(pairs: HeaderPairs): string[] {
  const named = connectionOptions(pairs)
  const flat: string[] = []
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    if (!HOP_BY_HOP.has(key) && !named.includes(key)) flat.push(name, value)
  }
  return flat
}

/** The first value of a header, whatever its spelling. */
export function headerOf(pairs: HeaderPairs, name: string): string | undefined {
  return pairs.find(([each]) => each.length === name.length && each.toLowerCase() === name)?.[1]
}

const USUAL = new Set(['keep-alive', 'close'])

function connectionOptions(pairs: HeaderPairs): readonly string[] {
  const value = headerOf(pairs, 'connection')
  if (value === undefined || USUAL.has(value)) return []
  return value.split(',').map((option) => option.trim().toLowerCase())
}
