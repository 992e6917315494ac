import type { Redactor } from './redactor.ts'
import type { Header, ServerInfo } from '../tape/header.ts'
import { LABEL_IDS, type Labels } from '../tape/labels.ts'

/** Line 1 as it is written: command lines, URLs and tags may hold secrets, and the header says what replaced them. */
export function redactedHeader(header: Header, redactor: Redactor | undefined): Header {
  if (redactor === undefined) return header
  return {
    ...header,
    ...redactedLabels(header, redactor),
    servers: mapValues(header.servers, (info) => redactedServer(info, redactor)),
    redaction: redactor.mark,
  }
}

/** What the user wrote on a tape. */
export function redactedLabels(labels: Labels, redactor: Redactor): Labels {
  const ids = LABEL_IDS.flatMap((id) => {
    const text = labels[id]
    return text === undefined ? [] : [[id, redactor.text(text)] as const]
  })
  return {
    ...Object.fromEntries(ids),
    tags: mapValues(labels.tags, (value, name) => redactor.named(name, value)),
  }
}

/** What a tape says of a server. */
export function redactedServer(info: ServerInfo, redactor: Redactor | undefined): ServerInfo {
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
