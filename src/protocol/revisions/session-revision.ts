import { isObject, member } from '../../json/parse.ts'
import { METHOD_NOT_FOUND } from '../message.ts'
import { SessionClientTranslator } from '../translation/session-client.ts'
import type { Revision } from './revision.ts'

/** The facts in which session-based revisions differ. */
interface SessionRevisionFacts extends Pick<Revision, 'version' | 'schemaVersion'> {
  readonly primesStreams?: boolean
  readonly allowsBatches?: boolean
}

/** A revision in which `initialize` opens a session that later requests belong to. */
export function sessionRevision({
  version,
  schemaVersion,
  primesStreams = false,
  allowsBatches = false,
}: SessionRevisionFacts): Revision {
  return {
    version,
    schemaVersion,
    primesStreams,
    allowsBatches,
    era: 'legacy',
    isStateless: false,
    closingCancels: false,
    resumesStreams: true,
    openingMethod: 'initialize',
    openedNotification: 'notifications/initialized',
    opening: ({ info, recorded }) => ({
      method: 'initialize',
      params: {
        protocolVersion: member(recorded, 'protocolVersion') ?? version,
        capabilities: member(recorded, 'capabilities') ?? {},
        clientInfo: info,
      },
    }),
    openingResult: (server) => ({
      protocolVersion: server.version,
      capabilities: server.capabilities,
      serverInfo: server.serverInfo ?? { name: 'recorded server', version: '0' },
    }),
    agreedVersion,
    requestMeta: () => ({}),
    provenBy: ({ request, response }) =>
      request.method === 'initialize' && response !== undefined && 'result' in response.outcome
        ? { version: agreedVersion(response.outcome.result) }
        : undefined,
    isProbe: () => false,
    // Clients that also speak a stateless revision try `server/discover` first.
    builtInAnswer: ({ method }) => (method === 'server/discover' ? UNKNOWN_METHOD : undefined),
    postHeaders: (_, { sessionHeaders }) => sessionHeaders,
    checkPost: () => undefined,
    httpStatus: () => 200,
    isTransportError: ({ method, errorCode }) =>
      TRANSPORT_ERROR_CODES.has(errorCode) || (method === 'initialize' && OPENING_ERROR_CODES.has(errorCode)),
    translator: (options, ports) => new SessionClientTranslator(options, ports),
  }
}

function agreedVersion(result: unknown): string | undefined {
  const version = isObject(result) ? member(result, 'protocolVersion') : undefined
  return typeof version === 'string' ? version : undefined
}

const UNKNOWN_METHOD = { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } }

// Servers answer with these codes if a header, the body or the version is wrong.
const TRANSPORT_ERROR_CODES: ReadonlySet<unknown> = new Set([-32020, -32700, -32022])

// A rejected `initialize` is often sent again in another form. Any live client should get the answer to the accepted one.
const OPENING_ERROR_CODES: ReadonlySet<unknown> = new Set([-32000, -32001, -32600])
