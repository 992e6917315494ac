import { parseJson } from '../json/parse.ts'
import { classifyMessage } from '../protocol/message.ts'
import type { Redactor } from './redactor.ts'
import { fromBase64, toBase64, withoutPadding } from './views.ts'
import type { Frame, HttpFrame, MessageFrame, RawFrame } from '../tape/frame.ts'
import { type TapeHeader, type TapeServer, TEXT_LABELS, type TapeLabels } from '../tape/header.ts'

/** Redacts command lines, URLs and tags, and adds the name of the rules and of the key. */
export function redactTapeHeader(header: TapeHeader, redactor: Redactor | undefined): TapeHeader {
  if (redactor === undefined) return header
  return {
    ...header,
    ...redactTapeLabels(header, redactor),
    servers: mapValues(header.servers, (info) => redactServerInfo(info, redactor)),
    redaction: redactor.identity,
  }
}

/** Redacts the names of servers. A recorder never names a server after a secret, but earlier versions did. */
export function redactServerNames(header: TapeHeader, redactor: Redactor): TapeHeader {
  const servers = Object.entries(header.servers).map(([name, info]) => [redactor.text(name), info] as const)
  return { ...header, servers: Object.fromEntries(servers) }
}

export function redactTapeLabels(labels: TapeLabels, redactor: Redactor): TapeLabels {
  const ids = TEXT_LABELS.flatMap((id) => {
    const text = labels[id]
    return text === undefined ? [] : [[id, redactor.text(text)] as const]
  })
  return {
    ...Object.fromEntries(ids),
    tags: mapValues(labels.tags, (value, name) => redactor.named(name, value)),
  }
}

export function redactServerInfo(info: TapeServer, redactor: Redactor | undefined): TapeServer {
  if (redactor === undefined) return info
  const { command, url } = info
  return {
    ...info,
    ...(command && { command: redactor.command(command) }),
    ...(url !== undefined && { url: redactor.url(url) }),
  }
}

function mapValues<Value>(
  map: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => Value,
): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value, name)]))
}

/** Does not redact stderr, because its frames may be cut anywhere, also within a secret. */
export function redactFrame(frame: Frame, redactor: Redactor): Frame {
  return redactServerOf(redactContent(frame, redactor), redactor)
}

/** Must give a server the same name as `redactServerNames`. */
export function redactServerOf(frame: Frame, redactor: Redactor): Frame {
  if (!('server' in frame) || frame.server === undefined) return frame
  const server = redactor.text(frame.server)
  return server === frame.server ? frame : { ...frame, server }
}

function redactContent(frame: Frame, redactor: Redactor): Frame {
  switch (frame.kind) {
    case 'message':
      return redactMessageFrame(frame, redactor)
    case 'raw':
      return redactRawFrame(frame, redactor)
    case 'http':
      return { ...frame, http: redactHttpFrame(frame.http, redactor) }
    case 'event':
      return { ...frame, details: redactEventDetails(frame.details, redactor) }
    case 'other':
      return { ...frame, line: redactor.text(frame.line) }
    case 'stderr':
      return frame
  }
}

function redactMessageFrame(frame: MessageFrame, redactor: Redactor): MessageFrame {
  const text = redactor.text(frame.text)
  const message = text === frame.text ? frame.message : classifyMessage(parseJson(text))
  const original = frame.original === undefined ? {} : { original: redactor.text(frame.original) }
  return { ...frame, ...redactSseId(frame, redactor), ...original, text, message }
}

function redactSseId({ sse }: Pick<RawFrame, 'sse'>, redactor: Redactor): Pick<RawFrame, 'sse'> {
  return sse?.id === undefined ? {} : { sse: { ...sse, id: redactor.text(sse.id) } }
}

function redactRawFrame(frame: RawFrame, redactor: Redactor): RawFrame {
  const raw = { ...frame, ...redactSseId(frame, redactor), raw: redactor.text(frame.raw) }
  return frame.base64 === undefined ? raw : { ...raw, base64: redactBase64(frame.base64, redactor) }
}

/** Treats every byte as a character, because the bytes are not UTF-8. */
function redactBase64(base64: string, redactor: Redactor): string {
  const bytes = Array.from(fromBase64(withoutPadding(base64)), (byte) => String.fromCharCode(byte)).join('')
  const redacted = redactor.text(bytes)
  if (redacted === bytes) return base64
  const encoded = toBase64(redacted, false)
  return encoded.padEnd(Math.ceil(encoded.length / 4) * 4, '=')
}

function redactHttpFrame(http: HttpFrame['http'], redactor: Redactor): HttpFrame['http'] {
  const headers = http.headers.map(([name, value]) => [name, redactor.header(name, value)] as const)
  return 'path' in http ? { ...http, path: redactor.url(http.path), headers } : { ...http, headers }
}

function redactEventDetails(
  details: Readonly<Record<string, unknown>>,
  redactor: Redactor,
): Readonly<Record<string, unknown>> {
  const text = JSON.stringify(details)
  const redacted = redactor.text(text)
  return redacted === text ? details : (parseJson(redacted) as Record<string, unknown>)
}
