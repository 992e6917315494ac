import { ReelayError } from '../errors.ts'
import { isObject, type JsonObject } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import { TAPE_VERSION, type Header, type ServerInfo } from './header.ts'
import { LABEL_IDS, type Labels } from './labels.ts'

/** Reads line 1 of a tape. Members that this version does not know are passed over. */
export function decodeHeader(line: string): Header {
  const header = headerIn(line)
  return {
    reelay: versionIn(header),
    id: textAt(header, 'id'),
    started: inUtc(textAt(header, 'started')),
    by: textAt(header, 'by'),
    ...labelsIn(header),
    servers: mapOf(header['servers'], 'servers', serverInfo),
    ...redactionIn(header),
    tags: header['tags'] === undefined ? {} : mapOf(header['tags'], 'tags', text),
  }
}

/** The version of a tape, from its line 1; refuses a file that is no tape, and a tape that is newer than this program. */
export function tapeVersion(line: string): number {
  return versionIn(headerIn(line))
}

/** Writes line 1 of a tape, with its keys in the fixed order. */
export function encodeHeader(header: Header): string {
  const { reelay, id, started, by, session, endpoint, agent, note, servers, redaction, tags } = header
  const labels = { session, endpoint, agent, note }
  return JSON.stringify({ reelay, id, started, by, ...labels, servers, redaction, tags })
}

function headerIn(line: string): JsonObject {
  const value = parseJson(line)
  if (isObject(value) && Object.hasOwn(value, 'reelay')) return value
  const what = isObject(value) && value['jsonrpc'] === '2.0' ? 'a bare JSON-RPC message' : 'no Reelay header'
  throw new ReelayError('TAPE_NOT_OURS', `no Reelay tape: its first line is ${what}`, {
    hint: 'a tape is made with `reelay record`, and its first line begins with {"reelay":',
  })
}

function versionIn({ reelay }: JsonObject): number {
  if (typeof reelay !== 'number' || !Number.isSafeInteger(reelay) || reelay < 1) {
    throw broken('"reelay" is not a version number')
  }
  if (reelay <= TAPE_VERSION) return reelay
  throw new ReelayError(
    'TAPE_TOO_NEW',
    `a tape of version ${reelay}, and this Reelay reads no version after ${TAPE_VERSION}`,
    { hint: 'update Reelay to read it: npm install -g reelay@latest' },
  )
}

function textAt(header: JsonObject, name: string): string {
  return text(header[name], name)
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw broken(`"${name}" is not a string`)
  return value
}

// Some programs write times without a zone. A reader on another continent must see the same moment: it is UTC.
function inUtc(started: string): string {
  const zoned = /[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(started) ? `${started.replace(' ', 'T')}Z` : started
  if (Number.isNaN(Date.parse(zoned))) throw broken('"started" is not a time')
  return zoned
}

function mapOf<Value>(
  map: unknown,
  name: string,
  read: (value: unknown, name: string) => Value,
): Readonly<Record<string, Value>> {
  if (!isObject(map)) throw broken(`"${name}" is not an object`)
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, read(value, `${name}.${key}`)]))
}

function serverInfo(info: unknown, name: string): ServerInfo {
  if (!isObject(info)) throw broken(`"${name}" is not an object`)
  const { transport, command, url, env } = info
  return {
    transport: text(transport, `${name}.transport`),
    ...(command === undefined ? {} : { command: texts(command, `${name}.command`) }),
    ...(url === undefined ? {} : { url: text(url, `${name}.url`) }),
    ...(env === undefined ? {} : { env: texts(env, `${name}.env`) }),
  }
}

function texts(list: unknown, name: string): readonly string[] {
  if (!Array.isArray(list)) throw broken(`"${name}" is not a list`)
  return list.map((item: unknown, index) => text(item, `${name}[${index}]`))
}

function labelsIn(header: JsonObject): Omit<Labels, 'tags'> {
  const given = LABEL_IDS.filter((id) => header[id] !== undefined)
  return Object.fromEntries(given.map((id) => [id, textAt(header, id)]))
}

function redactionIn({ redaction }: JsonObject): Pick<Header, 'redaction'> {
  if (redaction === undefined) return {}
  if (!isObject(redaction)) throw broken('"redaction" is not an object')
  const { rules, key } = redaction
  return { redaction: { rules: text(rules, 'redaction.rules'), key: text(key, 'redaction.key') } }
}

function broken(why: string): ReelayError {
  return new ReelayError('TAPE_BROKEN', `the header of the tape, line 1, is broken: ${why}`, {
    hint: 'restore line 1 from a copy, or write it as docs/tape-format.md says',
  })
}
