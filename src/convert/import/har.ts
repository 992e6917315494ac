import type { RawHeaders } from '../../http/headers.ts'
import { isObject, member, type JsonObject } from '../../json/parse.ts'
import { decodeFrame } from '../../tape/codec.ts'
import { decodeHeader, pickLabels } from '../../tape/header.ts'
import { type CapturedExchange, recordingOfExchanges } from './http-exchanges.ts'
import type { ImportedFrame, ImportedRecording, ImportFormat } from './import-format.ts'
import { type ImportSource, timeOf } from './import-source.ts'
import { objectFormat } from './message-lists.ts'

/** HAR, of browsers and proxies, and of `reelay export`, which keeps the whole tape in `_reelay`. */
export const harFormat: ImportFormat = objectFormat({
  name: 'har',
  description: 'HTTP archives (HAR) of browsers, proxies and reelay export',
  expects: '"log" with "entries"',
  isOne: (root) => Array.isArray(member(root.object['log'], 'entries')),
  read: (root) => {
    const log = root.get('log')
    const whole = wholeTape(member(log?.object, '_reelay'))
    if (whole !== undefined) return whole
    return recordingOfExchanges(
      (log?.get('entries')?.items() ?? []).flatMap(({ object }) => harExchange(object)),
    )
  },
})

/** The tape that an export keeps beside the entries: HAR has no place for stderr, events and messages of stdio. */
function wholeTape(kept: unknown): ImportedRecording | undefined {
  const [headerLine, lines] = [member(kept, 'header'), member(kept, 'frames')]
  if (typeof headerLine !== 'string' || !Array.isArray(lines)) return undefined
  const header = decodeHeader(headerLine)
  const started = Date.parse(header.started)
  const frames = lines.flatMap((line): readonly ImportedFrame[] => {
    const frame = typeof line === 'string' ? decodeFrame(line) : undefined
    if (frame === undefined || frame.kind === 'broken' || frame.kind === 'other') return []
    const { n: _, t, ...rest } = frame
    return [{ ...rest, at: started + t }]
  })
  return { frames, servers: header.servers, labels: pickLabels(header), started, notes: [] }
}

function harExchange(entry: JsonObject): readonly CapturedExchange[] {
  const { request, response, startedDateTime, time } = entry
  const [url, method] = [member(request, 'url'), member(request, 'method')]
  if (typeof url !== 'string' || typeof method !== 'string' || !URL.canParse(url)) return []
  const at = timeOf(startedDateTime) ?? 0
  const status = member(response, 'status')
  const end = at + (typeof time === 'number' && time > 0 ? time : 0)
  return [
    {
      url: new URL(url),
      method,
      headers: headersOf(member(request, 'headers')),
      body: bytesOf(member(member(request, 'postData'), 'text')),
      at,
      response:
        typeof status === 'number' && status > 0
          ? {
              status,
              headers: decodedHeaders(headersOf(member(response, 'headers')), member(response, 'content')),
              pieces: contentOf(member(response, 'content'), end),
              at: end,
            }
          : undefined,
    },
  ]
}

function headersOf(list: unknown): RawHeaders {
  if (!Array.isArray(list)) return []
  return list.filter(isObject).flatMap(({ name, value }) => [String(name), String(value)])
}

/** Archives contain bodies decoded, under the head of the encoded ones. */
function decodedHeaders(headers: RawHeaders, content: unknown): RawHeaders {
  if (typeof member(content, 'text') !== 'string') return headers
  const kept: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2)
    if (!/^(content-encoding|content-length|transfer-encoding)$/i.test(headers[at]!))
      kept.push(headers[at]!, headers[at + 1]!)
  return kept
}

function contentOf(
  content: unknown,
  at: number,
): readonly { readonly at: number; readonly bytes: Uint8Array }[] {
  const text = member(content, 'text')
  if (typeof text !== 'string' || text === '') return []
  const bytes = member(content, 'encoding') === 'base64' ? Buffer.from(text, 'base64') : Buffer.from(text)
  return [{ at, bytes }]
}

function bytesOf(text: unknown): Uint8Array | undefined {
  return typeof text === 'string' ? Buffer.from(text) : undefined
}

/** The network view of MCP Inspector. Its headers are not redacted. */
export const inspectorNetworkFormat: ImportFormat = {
  name: 'inspector-network',
  description: 'network exports of MCP Inspector',
  reject: ({ json }) => {
    const first: unknown = Array.isArray(json?.value) ? json.value[0] : undefined
    return isObject(first) && 'requestHeaders' in first && 'url' in first
      ? undefined
      : 'not a JSON array of entries with "url" and "requestHeaders"'
  },
  read: ({ json }: ImportSource) =>
    recordingOfExchanges((json?.items() ?? []).flatMap(({ object }) => networkExchange(object))),
}

function networkExchange(entry: JsonObject): readonly CapturedExchange[] {
  const { url, method, requestHeaders, requestBody, responseStatus, responseHeaders, responseBody } = entry
  if (typeof url !== 'string' || typeof method !== 'string' || !URL.canParse(url)) return []
  const at = timeOf(entry['timestamp']) ?? 0
  const end = at + (typeof entry['duration'] === 'number' ? entry['duration'] : 0)
  const body = bytesOf(responseBody)
  return [
    {
      url: new URL(url),
      method,
      headers: headerMap(requestHeaders),
      body: bytesOf(requestBody),
      at,
      response:
        typeof responseStatus === 'number'
          ? {
              status: responseStatus,
              headers: headerMap(responseHeaders),
              pieces: body === undefined ? [] : [{ at: end, bytes: body }],
              at: end,
            }
          : undefined,
    },
  ]
}

function headerMap(headers: unknown): RawHeaders {
  return isObject(headers) ? Object.entries(headers).flatMap(([name, value]) => [name, String(value)]) : []
}
