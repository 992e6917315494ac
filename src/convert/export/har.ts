import { STATUS_CODES } from 'node:http'
import type { JsonObject } from '../../json/parse.ts'
import { encodeFrame } from '../../tape/codec.ts'
import type { Frame, HeaderList, HttpFrame, MessageFrame } from '../../tape/frame.ts'
import { encodeHeader } from '../../tape/header.ts'
import { type ExportFormat, type ExportedTape, isoTime } from './export-format.ts'

/**
 * HAR 1.2. The exchanges of HTTP are entries. Other transports have none, so each request and its response become one. The whole
 * tape is kept in `log._reelay`, which other readers ignore and `reelay import` reads: nothing is lost.
 */
export const harExport: ExportFormat = {
  name: 'har',
  description: 'HTTP archive; reelay import turns it back into the same tape',
  extension: '.har',
  write: (tape) => {
    const [name, version] = tape.header.by.split(' ')
    const log = {
      version: '1.2',
      creator: { name, version: version ?? '0' },
      entries: [...httpEntries(tape), ...messageEntries(tape)]
        .toSorted((a, b) => a.start - b.start)
        .map(({ entry }) => entry),
      _reelay: { header: encodeHeader(tape.header), frames: tape.frames.map(encodeFrame) },
    }
    return `${JSON.stringify({ log }, undefined, 1)}\n`
  },
}

interface HarEntry {
  readonly start: number
  readonly entry: JsonObject
}

function httpEntries(tape: ExportedTape): readonly HarEntry[] {
  const exchanges = new Map<string, Frame[]>()
  for (const frame of tape.frames) {
    if (frame.kind === 'other' || frame.x === undefined) continue
    const key = `${frame.server} ${frame.x}`
    exchanges.set(key, [...(exchanges.get(key) ?? []), frame])
  }
  return [...exchanges.values()].flatMap((frames) => {
    const heads = frames.filter((frame): frame is HttpFrame => frame.kind === 'http')
    const request = heads.find(({ dir }) => dir === 'c2s')
    return request === undefined
      ? []
      : [
          httpEntry(
            tape,
            frames,
            request,
            heads.find(({ dir }) => dir === 's2c'),
          ),
        ]
  })
}

function httpEntry(
  tape: ExportedTape,
  frames: readonly Frame[],
  request: HttpFrame,
  response: HttpFrame | undefined,
): HarEntry {
  const { method = 'POST', path = '/', headers } = 'path' in request.http ? request.http : { headers: [] }
  const info = tape.header.servers[request.server]
  const base =
    info?.url !== undefined && URL.canParse(info.url) ? info.url : `http://${request.server}.invalid`
  const url = URL.canParse(path, base) ? new URL(path, base).href : base
  const status = response !== undefined && 'status' in response.http ? response.http.status : 0
  const end = frames.at(-1)?.t ?? request.t
  return entryOf(tape, {
    start: request.t,
    answered: response?.t ?? end,
    end,
    url,
    method,
    headers,
    body: bodyOf(frames, 'c2s', false),
    status,
    responseHeaders: response?.http.headers ?? [],
    content: bodyOf(frames, 's2c', isStream(response?.http.headers ?? [])),
  })
}

function isStream(headers: HeaderList): boolean {
  return headers.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
  )
}

function bodyOf(frames: readonly Frame[], dir: 'c2s' | 's2c', isEventStream: boolean): string {
  return frames
    .flatMap((frame) => {
      if (frame.kind === 'message' && frame.dir === dir)
        return [isEventStream ? eventText(frame) : frame.text]
      if (frame.kind === 'raw' && frame.dir === dir) return [frame.raw]
      return []
    })
    .join('')
}

function eventText({ sse = {}, text }: MessageFrame): string {
  const fields = [
    ...(sse.event === undefined ? [] : [`event: ${sse.event}\n`]),
    ...(sse.id === undefined ? [] : [`id: ${sse.id}\n`]),
    ...(sse.retry === undefined ? [] : [`retry: ${sse.retry}\n`]),
  ]
  const data = text.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `${[...fields, ...data].join('')}\n`
}

/** Requests that did not travel over HTTP, at an address that says so. */
function messageEntries(tape: ExportedTape): readonly HarEntry[] {
  return tape.turns.flatMap(({ trigger, response }) => {
    if (trigger === undefined || trigger.x !== undefined) return []
    const headers: HeaderList = [['content-type', 'application/json']]
    const end = response?.t ?? trigger.t
    return [
      entryOf(tape, {
        start: trigger.t,
        answered: end,
        end,
        url: `http://${encodeURIComponent(trigger.server)}.invalid/stdio/${trigger.conn}`,
        method: 'POST',
        headers,
        body: trigger.text,
        status: response === undefined ? 202 : 200,
        responseHeaders: response === undefined ? [] : headers,
        content: response?.text ?? '',
      }),
    ]
  })
}

interface EntryParts {
  readonly start: number
  readonly answered: number
  readonly end: number
  readonly url: string
  readonly method: string
  readonly headers: HeaderList
  readonly body: string
  readonly status: number
  readonly responseHeaders: HeaderList
  readonly content: string
}

function entryOf({ header }: ExportedTape, parts: EntryParts): HarEntry {
  const { start, answered, end, url, method, headers, body, status, responseHeaders, content } = parts
  const entry = {
    startedDateTime: isoTime(header, start),
    time: end - start,
    request: {
      method,
      url,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(headers),
      queryString: [...new URL(url).searchParams].map(([name, value]) => ({ name, value })),
      ...(body !== '' && { postData: { mimeType: typeOf(headers), text: body } }),
      headersSize: -1,
      bodySize: Buffer.byteLength(body),
    },
    response: {
      status,
      statusText: STATUS_CODES[status] ?? '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: pairs(responseHeaders),
      content: {
        size: Buffer.byteLength(content),
        mimeType: typeOf(responseHeaders),
        ...(content !== '' && { text: content }),
      },
      redirectURL: '',
      headersSize: -1,
      bodySize: Buffer.byteLength(content),
    },
    cache: {},
    timings: { send: 0, wait: answered - start, receive: end - answered },
  }
  return { start, entry }
}

function pairs(list: HeaderList): readonly JsonObject[] {
  return list.map(([name, value]) => ({ name, value }))
}

function typeOf(list: HeaderList): string {
  return list.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? 'application/json'
}
