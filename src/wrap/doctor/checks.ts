import { existsSync, accessSync, constants, statSync } from 'node:fs'
import { isAbsolute, dirname } from 'node:path'
import { text as readToEnd } from 'node:stream/consumers'
import { probeHttp, type HttpProbeResult } from '../../http/client/probe.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { signalChild } from '../../link/process/process-family.ts'
import { startServer } from '../../link/process/server-process.ts'
import type { Request } from '../../protocol/message.ts'
import { newestStatelessRevision } from '../../protocol/revisions/index.ts'
import { VERSION } from '../../version.ts'
import { findConfigMembers, type ConfigEntry } from '../configs/config-format.ts'
import { parseBridgeArgs, type ParsedBridgeArgs } from '../entries/bridge-entry.ts'
import { urlMayContainSecret } from '../entries/remote-entry.ts'

/** A problem and how to fix it. */
export interface DoctorFinding {
  readonly kind:
    | 'recorder-gone'
    | 'recorder-fails'
    | 'variable-missing'
    | 'server-wants-login'
    | 'server-fails'
    | 'server-moved'
    | 'server-unreachable'
    | 'not-remembered'
    | 'no-longer-wrapped'
    | 'config-refused'
    | 'tape-unusable'
    | 'tapes-unwritable'
    | 'tapes-not-private'
    | 'secret-in-config'
    | 'unpinned-package'
    | 'no-tls'
  readonly about: string
  readonly hint: string
}

const START_TIMEOUT_MS = 10_000 // Codex gives a server this long to start

/** Results by recorder, so that each recorder is started once, however many entries use it. */
export type RecorderCheckCache = Map<string, Promise<string | undefined>>

/** Checks that the recorder of an entry exists and responds. Asks for its version, so that no server is started. */
export async function checkRecorder(
  starter: readonly string[],
  server: string,
  tried: RecorderCheckCache,
): Promise<readonly DoctorFinding[]> {
  const again = `reelay unwrap ${server} && reelay wrap ${server}`
  const gone = starter.find((word) => isAbsolute(word) && !existsSync(word))
  if (gone !== undefined) {
    const about = `its recorder does not exist: ${gone}`
    return [
      { kind: 'recorder-gone', about, hint: `the server cannot start; run ${again} to use this Reelay` },
    ]
  }
  if (mayDownload(starter)) return []
  const trying = tried.get(starter.join('\0')) ?? recorderProblem(starter)
  tried.set(starter.join('\0'), trying)
  const problem = await trying
  if (problem === undefined) return []
  return [{ kind: 'recorder-fails', about: `its recorder does not start: ${problem}`, hint: `try ${again}` }]
}

/** npx and similar programs download what is missing, which a check must not cause. */
function mayDownload([, program]: readonly string[]): boolean {
  return program !== undefined && !isAbsolute(program)
}

async function recorderProblem([file = '', ...args]: readonly string[]): Promise<string | undefined> {
  const { child, exited, guard } = await startServer([file, ...args, '--version'])
  const timer = setTimeout(() => signalChild(child, 'SIGKILL'), START_TIMEOUT_MS)
  child.stdin.on('error', () => {}).end()
  child.stderr.resume()
  try {
    const [output, { code, signal }] = await Promise.all([readToEnd(child.stdout), exited])
    if (signal === 'SIGKILL') return `no answer within ${START_TIMEOUT_MS / 1000} s`
    if (code !== 0) return `it exited with ${code ?? signal}`
    return /^\d+\.\d+\.\d+/.test(output) ? undefined : 'it prints no version'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
    guard.dismiss()
  }
}

/** Checks that recorders can write to the tape folder and that other users cannot read it. */
export function checkTapeFolder(folder: string, platform: NodeJS.Platform): readonly DoctorFinding[] {
  const existing = nearestExistingFolder(folder)
  const problem = folderProblem(existing)
  if (problem !== undefined) {
    const about = `tapes cannot be written to ${folder}: ${problem}`
    return [
      {
        kind: 'tapes-unwritable',
        about,
        hint: 'sessions continue without a tape; check the permissions of the folder',
      },
    ]
  }
  const mode = statSync(existing).mode & 0o777
  if (existing !== folder || platform === 'win32' || (mode & 0o077) === 0) return []
  const about = `other users can read ${folder}: its mode is 0${mode.toString(8)}`
  return [{ kind: 'tapes-not-private', about, hint: `tapes may contain secrets: run chmod 700 ${folder}` }]
}

/** A folder that does not exist yet is created by the first recorder. */
function nearestExistingFolder(folder: string): string {
  const above = dirname(folder)
  return existsSync(folder) || above === folder ? folder : nearestExistingFolder(above)
}

function folderProblem(folder: string): string | undefined {
  if (!statSync(folder).isDirectory()) return `${folder} is not a folder`
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** How long to wait for a server, or `undefined` to not contact it. */
export type ProbeTimeout = number | undefined

/** The answer of a server behind a bridge. */
export type RemoteServerState =
  | { readonly kind: 'answers' | 'wants-login' | 'fails' | 'moved'; readonly status: number }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'unreachable'; readonly why: string }
  | { readonly kind: 'refused' | 'not-asked' }

interface RemoteServerCheck {
  readonly where: string
  readonly state: RemoteServerState
  readonly findings: readonly DoctorFinding[]
}

/** Asks the server of a bridge once which protocol it supports. Opens no session and calls no tool. */
export async function checkRemoteServer(
  bridged: BridgedServer,
  server: string,
  timeoutMs: ProbeTimeout,
): Promise<RemoteServerCheck> {
  const { where, missing } = bridged
  const state = await probeServer(bridged, timeoutMs)
  const found = findingForState(state, bridged, server)
  const findings = missing.map((name) => missingVariableFinding(name, server))
  return { where, state, findings: found === undefined ? findings : [...findings, found] }
}

async function probeServer(
  { url, headers }: BridgedServer,
  timeoutMs: ProbeTimeout,
): Promise<RemoteServerState> {
  if (url === undefined || timeoutMs === undefined) return { kind: 'not-asked' }
  const request = probeRequest()
  const { id, method, params } = request
  const probe = await probeHttp(url, {
    headers: [...probeHeaders(request), ...headers],
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    timeoutMs,
  })
  return probe.kind === 'answered' ? { kind: classifyProbe(probe, url), status: probe.status } : probe
}

function probeRequest(): Request {
  const { method, params } = newestStatelessRevision().opening({
    info: { name: 'reelay-doctor', version: VERSION },
  })
  return { kind: 'request', id: 'reelay-doctor', method, params }
}

function probeHeaders(request: Request): readonly AddedHeader[] {
  const headers = {
    Accept: 'application/json, text/event-stream',
    'Content-Type': 'application/json',
    ...newestStatelessRevision().postHeaders(request, { sessionHeaders: {} }),
  }
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
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

/** Returns what is wrong with the server behind a bridge, if anything. */
function findingForState(
  state: RemoteServerState,
  { where, headers, hasUnknownHeaders }: BridgedServer,
  server: string,
): DoctorFinding | undefined {
  const found = (kind: DoctorFinding['kind'], about: string, hint: string): DoctorFinding => ({
    kind,
    about: `${where} ${about}`,
    hint,
  })
  switch (state.kind) {
    case 'answers':
    case 'not-asked':
      return undefined
    case 'wants-login':
      if (hasUnknownHeaders) return undefined // the client may have the credentials
      return headers.length === 0
        ? found('server-wants-login', `requires a login (${state.status})`, loginHint(server))
        : found('server-wants-login', `rejects the configured headers (${state.status})`, EXPIRED_HINT)
    case 'fails':
      return found('server-fails', `fails (${state.status})`, RETRY_HINT)
    case 'moved':
      return found('server-moved', `redirects to another address (${state.status})`, movedHint(server))
    case 'refused':
      return found('server-unreachable', 'refuses the connection', NOT_RUNNING_HINT)
    case 'timeout':
      return found('server-unreachable', `does not answer within ${state.seconds} s`, RETRY_HINT)
    case 'unreachable':
      return found('server-unreachable', `cannot be reached: ${state.why}`, NETWORK_HINT)
  }
}

function missingVariableFinding(name: string, server: string): DoctorFinding {
  return {
    kind: 'variable-missing',
    about: `the recorder needs the variable ${name}, which the env of its entry does not define`,
    hint: `the server cannot start; run reelay unwrap ${server}, add what is missing, and wrap it again`,
  }
}

function loginHint(server: string): string {
  return `a bridge cannot log in: run reelay unwrap ${server}, and record the client with reelay record --forward`
}

function movedHint(server: string): string {
  return `redirects are not followed: run reelay unwrap ${server}, put the new url into the config, and wrap it again`
}

const EXPIRED_HINT = 'a token may have expired: replace it in the config'
const NOT_RUNNING_HINT = 'nothing listens there: start the server, or check the port in the url'
const RETRY_HINT = 'the recorder works; check the server and try again'
const NETWORK_HINT = 'check the host name, the network and the certificate'

/** The server behind a bridge, as far as it is known without the client. */
interface BridgedServer {
  /** `undefined` if only the client knows it. */
  readonly url: URL | undefined
  /** Description of the address without secrets. */
  readonly where: string
  readonly headers: readonly AddedHeader[]
  /** True if the client adds header values that are not known here. */
  readonly hasUnknownHeaders: boolean
  /** Variables that the bridge needs and the entry does not define. */
  readonly missing: readonly string[]
}

/** Reads an entry that starts a bridge. Returns `undefined` for any other entry. */
export function readBridgedServer(
  { link, members }: ConfigEntry,
  env: NodeJS.ProcessEnv,
): BridgedServer | undefined {
  const items = link.kind === 'command' ? (link.args?.items ?? []) : []
  if (!items.some(({ value }) => value === '--bridge')) return undefined
  const words = parseBridgeArgs(items)
  const own = findConfigMembers(members, ['env']).flatMap(({ inside = [] }) => inside)
  const held = new Map(own.map(({ key, value }) => [key.value ?? '', value.value ?? '']))
  const text = words.url?.value ?? held.get(words.urlVariable ?? '') ?? ''
  const headers = bridgeHeaders(words, (name) => held.get(name) ?? env[name])
  const needed = [...words.headers.map(({ variable }) => variable), words.urlVariable ?? '']
  return {
    url: hasClientPlaceholder(text) || !URL.canParse(text) ? undefined : new URL(text),
    where: displayUrl(text),
    headers: headers.filter(({ value }) => !hasClientPlaceholder(value)),
    hasUnknownHeaders: headers.some(({ value }) => hasClientPlaceholder(value)),
    missing: needed.filter((name) => name !== '' && !held.has(name) && env[name] === undefined),
  }
}

function bridgeHeaders(
  words: ParsedBridgeArgs,
  valueOf: (name: string) => string | undefined,
): readonly AddedHeader[] {
  const fromVariables = [...words.headers, ...words.variables].map(({ name, variable }) => ({
    name,
    value: valueOf(variable) ?? UNKNOWN_VALUE,
  }))
  return [...fromVariables, ...words.literalHeaders.map((text) => parseLiteralHeader(text, valueOf))]
}

/** Replaces a value that only the client can fill in. */
const UNKNOWN_VALUE = '${unknown}'

function parseLiteralHeader(text: string, valueOf: (name: string) => string | undefined): AddedHeader {
  const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/.exec(text) ?? []
  return {
    name,
    value: value.replaceAll(/\$\{env\.([^}]*)\}/g, (_, each: string) => valueOf(each) ?? UNKNOWN_VALUE),
  }
}

/** Clients expand `${input:key}`, `${env:KEY}`, `${KEY}` and `$KEY`. */
function hasClientPlaceholder(text: string): boolean {
  return /\$(\{|[A-Za-z_])/.test(text)
}

function displayUrl(text: string): string {
  if (hasClientPlaceholder(text) || !URL.canParse(text)) return 'a URL that only the client knows'
  const { origin, pathname } = new URL(text)
  return urlMayContainSecret(text) ? `${origin}/…` : origin + pathname
}
