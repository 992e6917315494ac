import { ReelayError } from '../../errors.ts'
import { isObject, member, parseJson, type JsonObject } from '../../json/parse.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { classifyMessage, hasEnvelope, META_KEYS, metaValue, type Id } from '../../protocol/message.ts'
import type { CallEnd, LiveSession } from './live-session.ts'
import { VERSION } from '../../version.ts'
import type { Turn } from '../../tape/turns.ts'

/** Different from every recorded id. */
const HANDSHAKE_ID = '__handshake__'

/** The answer of the live server. */
export interface HandshakeResult {
  readonly version: string | undefined
  readonly result: unknown
}

interface HandshakeOptions {
  readonly turns: readonly Turn[]
  readonly revision: Revision
  readonly timeout: number
  /** Opens the session in the name of the recorded client, and not of Reelay. */
  readonly asRecordedClient: boolean
  /** The params of the request that opened a recorded session; by default those in `turns`. */
  readonly recorded?: JsonObject
  /** The option that sets the timeout. */
  readonly timeoutOption?: string
  /** The id of the request; by default one that no recorded request has. */
  readonly id?: Id
}

/** Opens a session in the protocol revision of the tape, with the capabilities of the recorded client. */
export async function performHandshake(
  session: LiveSession,
  {
    turns,
    revision,
    timeout,
    timeoutOption,
    asRecordedClient,
    recorded: known,
    id = HANDSHAKE_ID,
  }: HandshakeOptions,
): Promise<HandshakeResult> {
  const recorded = known ?? recordedParams(turns, revision.openingMethod) ?? anyEnvelope(turns)
  const info = (asRecordedClient ? clientInfoIn(recorded) : undefined) ?? CLIENT_INFO
  const { method, params } = revision.opening({ info, recorded })
  const text = JSON.stringify({ jsonrpc: '2.0', id, method, params })
  const end = await session.request({
    text,
    id,
    token: undefined,
    timeout,
    isHandshake: true,
  }).ended
  if (session.strayLines.length > 0 && mayHaveLogged(end))
    throw noiseOnStdout(method, session.strayLines, end)
  const result = resultIn(end, method, timeoutOption)
  const { openedNotification } = revision
  if (openedNotification !== undefined)
    session.send(JSON.stringify({ jsonrpc: '2.0', method: openedNotification }))
  return { version: revision.agreedVersion(result), result }
}

/** The name and version of the client in the params of a request, with everything else that it says about itself. */
function clientInfoIn(params: unknown): typeof CLIENT_INFO | undefined {
  const info = member(params, 'clientInfo') ?? metaValue(params, META_KEYS.clientInfo)
  const [name, version] = [member(info, 'name'), member(info, 'version')]
  if (!isObject(info) || typeof name !== 'string' || typeof version !== 'string') return undefined
  return { ...info, name, version }
}

/** Returns true for the request of Reelay's own handshake, for the response to it, and for the notification after it. */
export function isOwnHandshake(text: string): boolean {
  if (!text.includes(HANDSHAKE_ID) && !text.includes(OPENED)) return false
  const message = parseJson(text)
  return member(message, 'id') === HANDSHAKE_ID || member(message, 'method') === OPENED
}

/** Gives a message of Reelay's own handshake the id of the recorded one. */
export function withHandshakeId(text: string, id: Id): string {
  return isOwnHandshake(text) ? text.replace(JSON.stringify(HANDSHAKE_ID), () => JSON.stringify(id)) : text
}

const OPENED = 'notifications/initialized'

const CLIENT_INFO = { name: 'reelay', version: VERSION }

function recordedParams(turns: readonly Turn[], method: string): unknown {
  const turn = turns.find(
    ({ trigger }) => trigger?.message.kind === 'request' && trigger.message.method === method,
  )
  return turn?.trigger !== undefined && 'params' in turn.trigger.message
    ? turn.trigger.message.params
    : undefined
}

function anyEnvelope(turns: readonly Turn[]): unknown {
  const params = turns.map(({ trigger }) =>
    trigger !== undefined && 'params' in trigger.message ? trigger.message.params : undefined,
  )
  return params.find(hasEnvelope)
}

function resultIn(end: CallEnd, method: string, timeoutOption?: string): unknown {
  if (end.kind !== 'answered') throw handshakeRefused(method, describeCallEnd(end), end.kind, timeoutOption)
  const message = classifyMessage(parseJson(end.text))
  const outcome = message.kind === 'response' ? message.outcome : { error: undefined }
  if ('result' in outcome) return outcome.result
  throw handshakeRefused(method, `it answered ${JSON.stringify(outcome.error)}`, 'error')
}

function describeCallEnd(end: Exclude<CallEnd, { kind: 'answered' }>): string {
  if (end.kind === 'lost') return end.why
  return end.kind === 'timeout' ? `no answer came within ${end.after} ms` : 'no answer came'
}

/** Over HTTP, such a line is the response itself. */
function mayHaveLogged(end: CallEnd): boolean {
  return end.kind === 'timeout' || (end.kind === 'lost' && end.why.startsWith('the server ended'))
}

function noiseOnStdout(method: string, lines: readonly string[], end: CallEnd): ReelayError {
  const why = end.kind === 'lost' ? `: ${end.why}` : ''
  const [count, are] = lines.length === 1 ? ['1 line', 'is'] : [`${lines.length} lines`, 'are']
  return new ReelayError(
    'TARGET_REFUSED',
    `the server did not answer ${method}${why}. It wrote ${count} on stdout that ${are} not JSON-RPC; the first: ${lines[0]}`,
    { hint: 'stdout belongs to the protocol: let the server log to stderr' },
  )
}

const CONNECTION_HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /HTTP 403\b/,
    "the server refuses this request: it may need a token (--header 'Authorization: Bearer ${env.TOKEN}'), or the token may lack the right",
  ],
  [/HTTP 40[17]\b/, "the server requires authentication: add --header 'Authorization: Bearer ${env.TOKEN}'"],
  [/HTTP (40[45]|410)\b/, 'check the path of the URL: most servers answer at /mcp'],
  [/HTTP 3\d\d\b/, 'give the URL that the server redirects to; curl -I shows it'],
  [/HTTP 429\b/, 'the server limits the number of requests: wait, and try again'],
  [/HTTP 4\d\d\b/, 'the server rejected the request: its log may say why; check the URL and --header'],
  [/HTTP 5\d\d\b/, 'the server, or a proxy in front of it, has failed: its log may say why'],
  [
    /HTTP 2\d\d: .*"jsonrpc".*"error"/,
    'the server answered with an error that names no request: its message says why',
  ],
  [/HTTP 2\d\d\b/, 'this is not an MCP server: check the URL; most servers answer at /mcp'],
  [/wrong version number/, 'the server does not use TLS: try http:// instead of https://'],
  [
    /certificate|ALTNAME|CERT_/i,
    'if you trust the certificate, set NODE_EXTRA_CA_CERTS to the file of the CA that signed it',
  ],
  [
    /request to http:.*closed the connection/,
    'the server may use TLS: try https:// instead of http://; otherwise its log may say why it closed the connection',
  ],
  [/ECONNREFUSED/, 'nothing listens at this address: start the server, or correct the host and the port'],
  [/ENOTFOUND|EAI_AGAIN/, 'there is no such host: check the name in the URL'],
  [/ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/, 'the host cannot be reached: check the address and the network'],
  [/exit|ended|closed/i, 'the server ended before it answered: run its command by hand to see why'],
]

function handshakeRefused(
  method: string,
  why: string,
  kind: CallEnd['kind'] | 'error',
  timeoutOption = '--start-timeout',
): ReelayError {
  const hint =
    kind === 'error'
      ? 'the server may not support the protocol revision of the tape: record the session again, or use --handshake recorded to send the recorded handshake'
      : (CONNECTION_HINTS.find(([pattern]) => pattern.test(why))?.[1] ??
        `start the server by hand and check that it answers; ${timeoutOption} gives it more time, as in ${timeoutOption} 90s`)
  return new ReelayError('TARGET_REFUSED', `the server did not answer ${method}: ${why}`, { hint })
}
