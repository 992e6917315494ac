import { probeHttp, type HttpProbeResult } from '../../http/client/probe.ts'
import type { AddedHeader } from '../../transport/own-headers.ts'
import { VERSION } from '../../version.ts'
import { META_KEYS, MODERN_VERSION } from '../../protocol/methods.ts'
import type { BridgedServer } from '../bridged-server.ts'
import type { DoctorFinding } from './local-checks.ts'
import { missingVariableFinding, findingForState } from '../remote-finding.ts'

/** How long a server is waited for; undefined when it is not asked at all. */
export type ProbeTimeout = number | undefined

/** What a server behind a bridge had to say. */
export type RemoteServerState =
  | { readonly kind: 'answers' | 'wants-login' | 'fails' | 'moved'; readonly status: number }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'unreachable'; readonly why: string }
  | { readonly kind: 'refused' | 'not-asked' }

export interface RemoteServerCheck {
  readonly where: string
  readonly state: RemoteServerState
  readonly findings: readonly DoctorFinding[]
}

/** Asks the server of a bridge what it speaks, once, as clients do that find out: it begins no session and calls no tool. */
export async function checkRemoteServer(
  bridged: BridgedServer,
  server: string,
  patience: ProbeTimeout,
): Promise<RemoteServerCheck> {
  const { where, missing } = bridged
  const state = await probeServer(bridged, patience)
  const found = findingForState(state, bridged, server)
  const findings = missing.map((name) => missingVariableFinding(name, server))
  return { where, state, findings: found === undefined ? findings : [...findings, found] }
}

async function probeServer(
  { url, headers }: BridgedServer,
  timeoutMs: ProbeTimeout,
): Promise<RemoteServerState> {
  if (url === undefined || timeoutMs === undefined) return { kind: 'not-asked' }
  const probe = await probeHttp(url, { headers: withProbeHeaders(headers), body: PROBE_REQUEST, timeoutMs })
  return probe.kind === 'answered' ? { kind: classifyProbe(probe, url), status: probe.status } : probe
}

const PROBE_REQUEST = JSON.stringify({
  jsonrpc: '2.0',
  id: 'reelay-doctor',
  method: 'server/discover',
  params: {
    _meta: {
      [META_KEYS.protocolVersion]: MODERN_VERSION,
      [META_KEYS.clientInfo]: { name: 'reelay-doctor', version: VERSION },
      [META_KEYS.clientCapabilities]: {},
    },
  },
})

function withProbeHeaders(own: readonly AddedHeader[]): readonly AddedHeader[] {
  return [
    { name: 'Accept', value: 'application/json, text/event-stream' },
    { name: 'Content-Type', value: 'application/json' },
    { name: 'MCP-Protocol-Version', value: MODERN_VERSION },
    { name: 'Mcp-Method', value: 'server/discover' },
    ...own,
  ]
}

function classifyProbe(
  { status, location }: Extract<HttpProbeResult, { kind: 'answered' }>,
  url: URL,
): 'answers' | 'wants-login' | 'fails' | 'moved' {
  if (status === 401 || status === 403) return 'wants-login'
  if (status >= 500) return 'fails'
  const isElsewhere = location !== undefined && URL.canParse(location, url.href)
  return status >= 300 && isElsewhere && new URL(location, url).origin !== url.origin ? 'moved' : 'answers'
}
