import type { Direction } from '../wire/direction.ts'
import { isObject, type JsonObject } from '../protocol/message.ts'
import type { HeaderList, HttpFrame, SseFields } from './frame.ts'

/** The part of a line that tells of the server-sent event, before the payload. */
export function encodeSse(sse: SseFields | undefined): string {
  if (sse === undefined) return ''
  const { id, event, retry } = sse
  return `,"sse":${JSON.stringify({ id, event, retry })}`
}

/** Reads the `sse` of a line; text says what is wrong with it. */
export function readSse(value: unknown): { readonly sse?: SseFields } | string {
  if (value === undefined) return {}
  if (!isObject(value)) return '"sse" is not an object'
  const { id, event, retry } = value
  if (id !== undefined && typeof id !== 'string') return '"sse.id" is not a string'
  if (event !== undefined && typeof event !== 'string') return '"sse.event" is not a string'
  if (retry !== undefined && !isNonNegativeInteger(retry)) return '"sse.retry" is not a whole number'
  return {
    sse: {
      ...(id === undefined ? {} : { id }),
      ...(event === undefined ? {} : { event }),
      ...(retry === undefined ? {} : { retry }),
    },
  }
}

/** Reads the `http` of a line: the head of a request or of an answer, as the direction says; text says what is wrong with it. */
export function readHttpHead(value: unknown, dir: Direction): HttpFrame['http'] | string {
  if (!isObject(value)) return '"http" is not an object'
  const { headers } = value
  if (!isHeaderList(headers)) return '"http.headers" is not a list of names and values'
  return dir === 'c2s' ? readRequestHead(value, headers) : readResponseHead(value, headers)
}

function readRequestHead({ method, path }: JsonObject, headers: HeaderList): HttpFrame['http'] | string {
  if (typeof method !== 'string') return '"http.method" is not a string'
  if (typeof path !== 'string') return '"http.path" is not a string'
  return { method, path, headers }
}

function readResponseHead({ status }: JsonObject, headers: HeaderList): HttpFrame['http'] | string {
  return isNonNegativeInteger(status) ? { status, headers } : '"http.status" is not a whole number'
}

function isHeaderList(value: unknown): value is HeaderList {
  return Array.isArray(value) && value.every(isHeader)
}

function isHeader(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string')
}

function isNonNegativeInteger(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
