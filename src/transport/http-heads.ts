/** Names and values in turn, as Node gives and takes them: spelling, order and repetitions are kept. */
export type RawHeaders = readonly string[]

/** As large a head as servers commonly take; Node's own bound is 16 KiB. */
export const MAX_HEAD_BYTES: number = 128 * 1024

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

/** What is handed on. */
export function handedOn(headers: RawHeaders): string[] {
  const named = connectionOptions(headers)
  const kept: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const key = headers[at]!.toLowerCase()
    if (!HOP_BY_HOP.has(key) && !named.includes(key)) kept.push(headers[at]!, headers[at + 1]!)
  }
  return kept
}

/** The first value of a header, whatever its spelling. */
export function headerOf(headers: RawHeaders, name: string): string | undefined {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const each = headers[at]!
    if (each.length === name.length && each.toLowerCase() === name) return headers[at + 1]
  }
  return undefined
}

/** The headers with the host that the URL of the request names, which counts for more (RFC 9112, 3.2.2). */
export function withHost(headers: RawHeaders, host: string): RawHeaders {
  if (headerOf(headers, 'host') === host) return headers
  const others: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (headers[at]!.toLowerCase() !== 'host') others.push(headers[at]!, headers[at + 1]!)
  return ['Host', host, ...others]
}

const USUAL = new Set(['keep-alive', 'close'])
const NONE: readonly string[] = []

function connectionOptions(headers: RawHeaders): readonly string[] {
  const value = headerOf(headers, 'connection')
  if (value === undefined || USUAL.has(value)) return NONE
  return value.split(',').map((option) => option.trim().toLowerCase())
}
