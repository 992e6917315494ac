import { probeHttp, type Probe } from '../transport/http-probe.ts'
import type { OwnHeader } from '../transport/own-headers.ts'
import { VERSION } from '../version.ts'
import { META, MODERN_VERSION } from '../wire/methods.ts'
import type { BridgedServer } from './bridged-server.ts'
import type { Finding } from './finding.ts'

/** How long a server is waited for; undefined when it is not asked at all. */
export type Patience = number | undefined

/** What is known of the server behind a bridge. */
export interface RemoteCheck {
  readonly where: string
  readonly kind:
    | 'answers'
    | 'wants-login'
    | 'fails'
    | 'moved'
    | 'refused'
    | 'timeout'
    | 'unreachable'
    | 'not-asked'
  readonly status: number | null
  readonly findings: readonly Finding[]
}

/** Asks the server of a bridge what it speaks, once, as clients do that find out: it begins no session and calls no tool. */
export async function checkRemote(
  bridged: BridgedServer,
  server: string,
  timeoutMs: Patience,
): Promise<RemoteCheck> {
  const { url, where, headers } = bridged
  const findings = bridged.missing.map((name) => missingVariable(name, server))
  if (url === undefined || timeoutMs === undefined)
    return { where, kind: 'not-asked', status: null, findings }
  const probe = await probeHttp(url, { headers: withProbeHeaders(headers), body: PROBE, timeoutMs })
  const kind = kindOf(probe, url)
  const isExcused = kind === 'wants-login' && bridged.isPartlyKnown
  const found = isExcused ? undefined : findingOf(probe, { kind, server, bridged })
  return {
    where,
    kind,
    status: probe.kind === 'answered' ? probe.status : null,
    findings: [...findings, ...(found === undefined ? [] : [found])],
  }
}

const PROBE = JSON.stringify({
  jsonrpc: '2.0',
  id: 'reelay-doctor',
  method: 'server/discover',
  params: {
    _meta: {
      [META.protocolVersion]: MODERN_VERSION,
      [META.clientInfo]: { name: 'reelay-doctor', version: VERSION },
      [META.clientCapabilities]: {},
    },
  },
})

function withProbeHeaders(own: readonly OwnHeader[]): readonly OwnHeader[] {
  return [
    { name: 'Accept', value: 'application/json, text/event-stream' },
    { name: 'Content-Type', value: 'application/json' },
    { name: 'MCP-Protocol-Version', value: MODERN_VERSION },
    { name: 'Mcp-Method', value: 'server/discover' },
    ...own,
  ]
}

function kindOf(probe: Probe, url: URL): RemoteCheck['kind'] {
  if (probe.kind !== 'answered') return probe.kind
  const { status, location } = probe
  if (status === 401 || status === 403) return 'wants-login'
  if (status >= 500) return 'fails'
  const isElsewhere = location !== undefined && URL.canParse(location, url.href)
  return status >= 300 && isElsewhere && new URL(location, url).origin !== url.origin ? 'moved' : 'answers'
}

interface Case {
  readonly kind: RemoteCheck['kind']
  readonly server: string
  readonly bridged: BridgedServer
}

function findingOf(probe: Probe, { kind, server, bridged: { where, headers } }: Case): Finding | undefined {
  const status = probe.kind === 'answered' ? probe.status : 0
  switch (kind) {
    case 'wants-login':
      return headers.length === 0
        ? {
            kind: 'server-wants-login',
            about: `${where} wants you to log in (${status})`,
            hint: noLogin(server),
          }
        : {
            kind: 'server-wants-login',
            about: `${where} refuses what the headers hold (${status})`,
            hint: EXPIRED,
          }
    case 'fails':
      return { kind: 'server-fails', about: `${where} fails (${status})`, hint: LATER }
    case 'moved':
      return {
        kind: 'server-moved',
        about: `${where} sends its clients elsewhere (${status})`,
        hint: movedHint(server),
      }
    case 'refused':
      return { kind: 'server-unreachable', about: `${where} refuses the connection`, hint: NOT_RUNNING }
    case 'timeout':
      return {
        kind: 'server-unreachable',
        about: `${where} does not answer within ${secondsOf(probe)} s`,
        hint: LATER,
      }
    case 'unreachable':
      return {
        kind: 'server-unreachable',
        about: `${where} cannot be reached: ${whyOf(probe)}`,
        hint: NETWORK,
      }
    case 'answers':
    case 'not-asked':
      return undefined
  }
}

function secondsOf(probe: Probe): number {
  return probe.kind === 'timeout' ? probe.seconds : 0
}

function whyOf(probe: Probe): string {
  return probe.kind === 'unreachable' ? probe.why : probe.kind
}

function missingVariable(name: string, server: string): Finding {
  return {
    kind: 'variable-missing',
    about: `its recorder needs the variable ${name}, which its env does not hold`,
    hint: `the server cannot start like this; reelay unwrap ${server}, see what is missing, and wrap it again`,
  }
}

function noLogin(server: string): string {
  return `nobody can log in through a bridge: reelay unwrap ${server}, and record the client with reelay record --forward`
}

function movedHint(server: string): string {
  return `nothing is sent there: reelay unwrap ${server}, put the new url into the config, and wrap it again`
}

const EXPIRED = 'a token may have expired: put a new one where it stands in the config'
const NOT_RUNNING =
  'nothing listens there: start the server, or see whether the port in the url is still right'
const LATER = 'the recorder is well; see whether the server is, and try again'
const NETWORK = 'see whether this machine can reach it: its name, the network, its certificate'
