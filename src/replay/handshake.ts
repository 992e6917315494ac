import { ReelayError } from '../errors.ts'
import type { Turn } from '../tape/turn.ts'
import { VERSION } from '../version.ts'
import type { Era } from '../wire/era.ts'
import { classify, isObject, member } from '../wire/message.ts'
import { LEGACY_VERSIONS, META, metaOf, MODERN_VERSION } from '../wire/methods.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { CallEnd } from './live-call.ts'
import type { LiveSession } from './live-session.ts'

/** Its own kind of id, so that no recorded request can be taken for it. */
const HANDSHAKE_ID = '__handshake__'

/** What the live server said of itself. */
export interface Greeting {
  readonly version: string | undefined
  readonly result: unknown
}

/** Opens the conversation in the era of the tape, as a client named reelay that can do what the recorded one could. */
export async function greet(
  session: LiveSession,
  { turns, era, timeout }: { turns: readonly Turn[]; era: Era; timeout: number },
): Promise<Greeting> {
  const opening = era === 'modern' ? discover(turns) : initialize(turns)
  const text = JSON.stringify({ jsonrpc: '2.0', id: HANDSHAKE_ID, ...opening })
  const end = await session.call({ text, id: HANDSHAKE_ID, token: undefined, timeout }).done
  const result = resultOf(end, opening.method)
  if (era === 'legacy') session.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return { version: versionIn(result, era), result }
}

interface Opening {
  readonly method: string
  readonly params: unknown
}

const CLIENT_INFO = { name: 'reelay', version: VERSION }

function initialize(turns: readonly Turn[]): Opening {
  const params = recordedParams(turns, 'initialize')
  const protocolVersion = member(params, 'protocolVersion') ?? LEGACY_VERSIONS[0]
  const capabilities = member(params, 'capabilities') ?? {}
  return { method: 'initialize', params: { protocolVersion, capabilities, clientInfo: CLIENT_INFO } }
}

function discover(turns: readonly Turn[]): Opening {
  const params = recordedParams(turns, 'server/discover') ?? anyEnvelope(turns)
  const meta = member(params, '_meta')
  const version = metaOf(params, META.protocolVersion) ?? MODERN_VERSION
  const own = { [META.protocolVersion]: version, [META.clientInfo]: CLIENT_INFO }
  const capabilities = { [META.clientCapabilities]: metaOf(params, META.clientCapabilities) ?? {} }
  return {
    method: 'server/discover',
    params: { _meta: { ...(isObject(meta) && meta), ...capabilities, ...own } },
  }
}

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
  return params.find((one) => metaOf(one, META.protocolVersion) !== undefined)
}

function resultOf(end: CallEnd, method: string): unknown {
  if (end.kind !== 'answered') throw refused(method, inWords(end), end.kind)
  const message = classify(parseJson(end.text))
  const outcome = message.kind === 'response' ? message.outcome : { error: undefined }
  if ('result' in outcome) return outcome.result
  throw refused(method, `it answered ${JSON.stringify(outcome.error)}`, 'error')
}

function inWords(end: Exclude<CallEnd, { kind: 'answered' }>): string {
  if (end.kind === 'lost') return end.why
  return end.kind === 'timeout' ? `no answer came within ${end.after} ms` : 'no answer came'
}

function refused(method: string, why: string, kind: CallEnd['kind'] | 'error'): ReelayError {
  const hint =
    kind === 'error'
      ? 'the server may speak only the other era, which this tape was not recorded in: record it anew, or use --handshake recorded to send what the tape holds'
      : 'start the server by hand and see whether it answers; --timeout gives it more time'
  return new ReelayError('TARGET_REFUSED', `the server did not answer ${method}: ${why}`, { hint })
}

function versionIn(result: unknown, era: Era): string | undefined {
  const version = era === 'legacy' ? member(result, 'protocolVersion') : undefined
  return typeof version === 'string' ? version : undefined
}
