import type { HeaderRecord } from '../../http/server/served-exchange.ts'
import { decodeUtf8 } from '../../protocol/lines.ts'
import type { HttpErrorResponse } from './refusal.ts'

/** One header by its lower-case name. */
export function requestHeader(headers: HeaderRecord, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : value?.join(', ')
}

const CODED = /^=\?base64\?(.*)\?=$/
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The value of a header that repeats a part of the body: what HTTP cannot carry is in Base64. Undefined when that is broken. */
export function decodeHeaderValue(value: string): string | undefined {
  const coded = CODED.exec(value)?.[1]
  if (coded === undefined) return value
  return BASE64.test(coded) ? decodeUtf8(Buffer.from(coded, 'base64')) : undefined
}

export function headerMismatch(header: string, why: string): HttpErrorResponse {
  const message = `Bad Request: the header ${header} and the body disagree: ${why}`
  return { status: 400, code: -32020, message, data: { mismatch: { header, why } } }
}
