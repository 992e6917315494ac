import type { Redactor } from './redactor.ts'
import type { TapeHeader, TapeServer } from '../tape/header.ts'
import { TEXT_LABELS, type TapeLabels } from '../tape/labels.ts'

/** Line 1 as it is written: command lines, URLs and tags may hold secrets, and the header says what replaced them. */
export function redactTapeHeader(header: TapeHeader, redactor: Redactor | undefined): TapeHeader {
  if (redactor === undefined) return header
  return {
    ...header,
    ...redactTapeLabels(header, redactor),
    servers: mapValues(header.servers, (info) => redactServerInfo(info, redactor)),
    redaction: redactor.identity,
  }
}

/** What the user wrote on a tape. */
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

/** What a tape says of a server. */
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
