/** Names and values in turn, like Node's `rawHeaders`: spelling, order and repetitions are kept. */
export type RawHeaders = readonly string[]

/** The largest head that is read. Node's default of 16 KiB is less than many servers accept. */
export const MAX_HEAD_BYTES: number = 128 * 1024

/**
 * The most headers that a request or response may have. Servers drop the headers after a limit of their own without a word
 * (Node after 1,000), so that a longer head could mean something else to the next reader.
 */
export const MAX_HEADERS = 500

// Headers of one connection, which a proxy does not forward (RFC 9110, 7.6.1). `Connection` may name more.
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

/** Returns the headers that a proxy forwards. */
export function endToEndHeaders(headers: RawHeaders): string[] {
  const named = connectionOptions(headers)
  const kept: string[] = []
  let hasLength = false
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const key = headers[at]!.toLowerCase()
    if (HOP_BY_HOP.has(key) || named.includes(key)) continue
    // A response may repeat its length with the same value. One is enough.
    if (key === 'content-length' && hasLength) continue
    hasLength ||= key === 'content-length'
    kept.push(headers[at]!, headers[at + 1]!)
  }
  return kept
}

/** Returns the first value of a header. `name` is in lower case; the case of the headers does not matter. */
export function findHeader(headers: RawHeaders, name: string): string | undefined {
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const each = headers[at]!
    if (each.length === name.length && each.toLowerCase() === name) return headers[at + 1]
  }
  return undefined
}

/** Whether the body is a stream of server-sent events. */
export function isEventStream(headers: RawHeaders): boolean {
  return findHeader(headers, 'content-type')?.trim().toLowerCase().startsWith('text/event-stream') === true
}

/** Replaces the Host header by the host of the request's URL, which has priority (RFC 9112, 3.2.2). */
export function withHost(headers: RawHeaders, host: string): RawHeaders {
  if (findHeader(headers, 'host') === host) return headers
  const others: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (headers[at]!.toLowerCase() !== 'host') others.push(headers[at]!, headers[at + 1]!)
  return ['Host', host, ...others]
}

const COMMON_CONNECTION_OPTIONS = new Set(['keep-alive', 'close'])
const NO_OPTIONS: readonly string[] = []
/** These are never dropped because `Connection` names them: the message would mean something else without them. */
const ALWAYS_FORWARDED = new Set(['content-length', 'host'])

function connectionOptions(headers: RawHeaders): readonly string[] {
  let options = NO_OPTIONS
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!]
    if (name.length !== CONNECTION.length || name.toLowerCase() !== CONNECTION) continue
    if (COMMON_CONNECTION_OPTIONS.has(value)) continue
    const named = value.split(',').map((option) => option.trim().toLowerCase())
    options = [...options, ...named.filter((option) => !ALWAYS_FORWARDED.has(option))]
  }
  return options
}

const CONNECTION = 'connection'

/** A header that the recorder adds to every request to its server, such as a token that the client does not have. */
export interface AddedHeader {
  readonly name: string
  readonly value: string
}

/** Adds headers, in place of the client's headers of the same name. */
export function withAddedHeaders(flat: string[], own: readonly AddedHeader[]): string[] {
  if (own.length === 0) return flat
  const ours = new Set(own.map(({ name }) => name.toLowerCase()))
  const kept: string[] = []
  for (let at = 0; at + 1 < flat.length; at += 2)
    if (!ours.has(flat[at]!.toLowerCase())) kept.push(flat[at]!, flat[at + 1]!)
  return [...kept, ...own.flatMap(({ name, value }) => [name, value])]
}
