import { probeHttp, type Probe } from '../transport/http-probe.ts'
import type { OwnHeader } from '../transport/own-headers.ts'
import { VERSION } from '../version.ts'
import { META, MODERN_VERSION } from '../wire/methods.ts'
import type { BridgedServer } from './bridged-server.ts'
import type { Finding } from './finding.ts'
import { missingVariable, remoteFinding } from './remote-finding.ts'

/** How long a server is waited for; undefined when it is not asked at all. */
export type Patience = number | undefined

/** What a server behind a bridge had to say. */
export type RemoteState =
  | { readonly kind: 'answers' | 'wants-login' | 'fails' | 'moved'; readonly status: number }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'unreachable'; readonly why: string }
  | { readonly kind: 'refused' | 'not-asked' }

export interface RemoteCheck {
  readonly where: string
  readonly state: RemoteState
  readonly findings: readonly Finding[]
}

/** Asks the server of a bridge what it speaks, once, as clients do that find out: it begins no session and calls no tool. */
export async function checkRemote(
  bridged: BridgedServer,
  server: string,
  patience: Patience,
): Promise<RemoteCheck> {
  const { where, missing } = bridged
  const state = await stateOf(bridged, patience)
  const found = remoteFinding(state, bridged, server)
  const findings = missing.map((name) => missingVariable(name, server))
  return { where, state, findings: found === undefined ? findings : [...findings, found] }
}

async function stateOf({ url, headers }: BridgedServer, timeoutMs: Patience): Promise<RemoteState> {
  if (url === undefined || timeoutMs === undefined) return { kind: 'not-asked' }
  const probe = await probeHttp(url, { headers: withProbeHeaders(headers), body: PROBE, timeoutMs })
  return probe.kind === 'answered' ? { kind: kindOf(probe, url), status: probe.status } : probe
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

function kindOf(
  { status, location }: Extract<Probe, { kind: 'answered' }>,
  url: URL,
): 'answers' | 'wants-login' | 'fails' | 'moved' {
  if (status === 401 || status === 403) return 'wants-login'
  if (status >= 500) return 'fails'
  const isElsewhere = location !== undefined && URL.canParse(location, url.href)
  return status >= 300 && isElsewhere && new URL(location, url).origin !== url.origin ? 'moved' : 'answers'
}
