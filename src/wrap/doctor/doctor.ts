import { basename, dirname } from 'node:path'
import { ReelayError } from '../../errors.ts'
import { listTapes } from '../../store/file/list.ts'
import { homeFolder, tapeFolder, resolveTape, TAPE_EXTENSION } from '../../store/home.ts'
import { escapeControlChars } from '../../text.ts'
import {
  openClientConfigs,
  type ConfigOpenResult,
  type OpenConfig,
  type LocatedConfigEntry,
  selectTargetsWithWrapped,
  realConfigPath,
} from '../client-configs.ts'
import type { UserEnvironment } from '../clients/client.ts'
import {
  readBridgedServer,
  checkRemoteServer,
  type ProbeTimeout,
  type RemoteServerState,
  checkRecorder,
  type RecorderCheckCache,
  checkTapeFolder,
  type DoctorFinding,
} from './checks.ts'
import { findConfigRisks } from './config-risks.ts'
import { parseWrappedCommand, type WrappedCommand } from '../entries/command-entry.ts'
import { isSameEntry, WrappedEntryStore, type WrappedEntry } from '../wrapped-entries.ts'

/** An entry that is or was wrapped. */
export interface DoctorEntry {
  readonly client: string
  readonly file: string
  readonly server: string
  readonly wrapped: boolean
  readonly since: string | null
  readonly tape: string | null
  readonly newest: NewestTape | null
  /** The server behind a bridge, or `null` if the entry wraps a command. */
  readonly remote: (RemoteServerState & { readonly where: string }) | null
  readonly findings: readonly DoctorFinding[]
}

/** A config file that exists. */
interface DoctorConfig {
  readonly client: string
  readonly file: string
  readonly servers: readonly string[]
  readonly findings: readonly DoctorFinding[]
  /** What is dangerous in the config. It works, so it does not count as a problem. */
  readonly risks: readonly DoctorFinding[]
}

export interface DoctorReport {
  readonly configs: readonly DoctorConfig[]
  readonly entries: readonly DoctorEntry[]
  readonly tapes: { readonly folder: string; readonly findings: readonly DoctorFinding[] }
  readonly healthy: boolean
}

export interface DoctorOptions {
  /** How many milliseconds to wait for servers behind bridges; `never` contacts none of them. */
  readonly probeTimeoutMs?: number | 'never'
  /** Tells whether a text holds a secret. Without it, secrets in configs are not searched. */
  readonly holdsSecret?: (text: string) => boolean
}

const PROBE_TIMEOUT_MS = 5000

/** Checks every config of every client, every entry that is or was wrapped, and the tape folder. */
export async function runDoctor(
  where: UserEnvironment,
  { probeTimeoutMs = PROBE_TIMEOUT_MS, holdsSecret = () => false }: DoctorOptions = {},
): Promise<DoctorReport> {
  const store = new WrappedEntryStore(homeFolder(where.env))
  const opened = openClientConfigs(selectTargetsWithWrapped({ where }, store.entries))
  const timeoutMs = probeTimeoutMs === 'never' ? undefined : probeTimeoutMs
  const context = { store, where, timeoutMs, recorderChecks: new Map() }
  const open = opened.filter((each) => each.kind === 'open')
  const checked = await Promise.all(open.map((each) => checkEntries(each, context)))
  const entries = checked.flat()
  entries.push(...store.entries.filter((entry) => isStaleEntry(entry, opened)).map(staleEntry))
  const folder = tapeFolder(where.env)
  const tapes = { folder, findings: checkTapeFolder(folder, where.platform) }
  const configs = opened.map((each) => describeConfig(each, holdsSecret))
  const healthy = [...configs, ...entries, tapes].every(({ findings }) => findings.length === 0)
  return { configs, entries, tapes, healthy }
}

interface CheckContext {
  readonly store: WrappedEntryStore
  readonly where: UserEnvironment
  readonly timeoutMs: ProbeTimeout
  readonly recorderChecks: RecorderCheckCache
}

/** Checks entries concurrently, so that a server that does not answer delays no other check. */
async function checkEntries(open: OpenConfig, context: CheckContext): Promise<readonly DoctorEntry[]> {
  const checks = open.entries.map(async (entry) => {
    const command = parseWrappedCommand(entry.link)
    return command === undefined ? [] : [await checkEntry(open, entry, { ...context, command })]
  })
  return (await Promise.all(checks)).flat()
}

async function checkEntry(
  { target, config }: OpenConfig,
  entry: LocatedConfigEntry,
  { command, store, where, timeoutMs, recorderChecks }: CheckContext & { readonly command: WrappedCommand },
): Promise<DoctorEntry> {
  const { root, server } = entry
  const remembered = store.find({ file: config.path, root, server })
  const tape = command.tape ?? null
  const bridged = readBridgedServer(entry, where.env)
  const [recorder, remote, recorded] = await Promise.all([
    checkRecorder(command.recorderCommand, server, recorderChecks),
    bridged && checkRemoteServer(bridged, server, timeoutMs),
    tape === null ? NO_RECORDING : findRecording(tape, where.env),
  ])
  return {
    client: target.client.name,
    file: target.file,
    server,
    wrapped: true,
    since: remembered?.since ?? null,
    tape,
    newest: recorded.newest,
    remote: remote === undefined ? null : { where: remote.where, ...remote.state },
    findings: [
      ...(remembered === undefined ? [notRememberedFinding(server)] : []),
      ...recorder,
      ...(remote?.findings ?? []),
      ...recorded.findings,
    ],
  }
}

const NO_RECORDING = { newest: null, findings: [] }

async function findRecording(
  tape: string,
  env: NodeJS.ProcessEnv,
): Promise<Pick<DoctorEntry, 'newest' | 'findings'>> {
  try {
    return { newest: (await findNewestTape(tape, env)) ?? null, findings: [] }
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const { message, hint = 'wrap the entry again' } = error
    return { newest: null, findings: [{ kind: 'tape-unusable', about: message, hint }] }
  }
}

function notRememberedFinding(server: string): DoctorFinding {
  return {
    kind: 'not-remembered',
    about: 'it is wrapped, but the original entry is not known',
    hint: `reelay unwrap ${server} restores its meaning; the formatting may differ`,
  }
}

/** Listed as wrapped, but the config no longer contains the wrapper, or no longer exists. */
function isStaleEntry(entry: WrappedEntry, opened: readonly ConfigOpenResult[]): boolean {
  return !opened.some((each) => {
    if (each.kind === 'refused') return realConfigPath(each.target.file) === entry.file
    const file = each.config.path
    return each.entries.some(
      ({ root, server, link }) =>
        isSameEntry({ file, root, server }, entry) && parseWrappedCommand(link) !== undefined,
    )
  })
}

function staleEntry({ client, file, server, since, tape }: WrappedEntry): DoctorEntry {
  const about = 'it was wrapped and no longer is: another program changed the config'
  const finding = { kind: 'no-longer-wrapped', about, hint: `reelay unwrap ${server} forgets it` } as const
  return {
    client,
    file,
    server,
    wrapped: false,
    since,
    tape,
    newest: null,
    remote: null,
    findings: [finding],
  }
}

function describeConfig(opened: ConfigOpenResult, holdsSecret: (text: string) => boolean): DoctorConfig {
  const { client, file } = opened.target
  const place = { client: client.name, file }
  if (opened.kind === 'open')
    return {
      ...place,
      servers: opened.entries.map(({ server }) => server),
      findings: [],
      risks: opened.entries.flatMap((entry) => findConfigRisks(entry, holdsSecret)),
    }
  const { message, hint = 'fix the file' } = opened.error
  return { ...place, servers: [], findings: [{ kind: 'config-refused', about: message, hint }], risks: [] }
}

interface NewestTape {
  readonly path: string
  readonly recordedAt: string
}

/** Finds the newest recording of a tape name; a recorder that finds the name taken adds `-2`, `-3`, and so on. */
async function findNewestTape(tape: string, env: NodeJS.ProcessEnv): Promise<NewestTape | undefined> {
  const path = resolveTape(tape, env)
  const name = basename(path, TAPE_EXTENSION)
  for (const listed of await listTapes(dirname(path)))
    if (listed.kind === 'tape' && isRecordingOf(listed.name, name))
      return { path: listed.path, recordedAt: listed.started }
  return undefined
}

function isRecordingOf(tape: string, name: string): boolean {
  return tape.startsWith(name) && /^(-\d+)*$/.test(tape.slice(name.length))
}

/** Formats the report: what is wrapped, what is wrong with it, and what to do. */
export function formatDoctorReport({ configs, entries, tapes, healthy }: DoctorReport): string {
  const sections = [
    configs.length === 0 ? ['no config file of a supported client was found'] : configs.flatMap(configLines),
    entries.length === 0 ? ['nothing is wrapped yet: run reelay wrap <server>'] : entries.flatMap(entryLines),
    [`tapes are in ${tapes.folder}`, ...tapes.findings.flatMap(findingLines)],
    [healthy ? healthyText(configs) : `${countFindings(configs, entries, tapes)} to look at`],
  ]
  return `${sections.map((lines) => lines.map(escapeControlChars).join('\n')).join('\n\n')}\n`
}

function healthyText(configs: readonly DoctorConfig[]): string {
  const risks = configs.flatMap((each) => each.risks).length
  if (risks === 0) return 'all is well'
  return `what is wrapped works; ${risks === 1 ? '1 risk is' : `${risks} risks are`} in the configs`
}

function configLines({ client, file, servers, findings, risks }: DoctorConfig): readonly string[] {
  const names = servers.length === 0 ? 'no servers' : servers.join(', ')
  return [
    `${client}  ${file}  ${findings.length === 0 ? names : ''}`.trimEnd(),
    ...findings.flatMap(findingLines),
    ...risks.flatMap(({ about, hint }) => [`       risk    ${about}`, `       hint    ${hint}`]),
  ]
}

function entryLines(entry: DoctorEntry): readonly string[] {
  const { server, client, file, since, newest, findings } = entry
  const verb = entry.wrapped ? 'wrapped' : 'was wrapped'
  return [
    `${findings.length === 0 ? 'ok   ' : 'wrong'}  ${server} in ${client}, ${verb}${since === null ? '' : ` since ${since}`}`,
    `       config  ${file}`,
    `       tape    ${newest === null ? 'nothing recorded yet' : `${newest.path}, ${newest.recordedAt}`}`,
    ...(entry.remote === null ? [] : [`       server  ${remoteLine(entry.remote)}`]),
    ...findings.flatMap(findingLines),
  ]
}

function remoteLine(remote: NonNullable<DoctorEntry['remote']>): string {
  const status = 'status' in remote ? ` (HTTP ${remote.status})` : ''
  return `${remote.where}, ${REMOTE_STATE_TEXT[remote.kind]}${status}`
}

const REMOTE_STATE_TEXT: Readonly<Record<RemoteServerState['kind'], string>> = {
  answers: 'reachable',
  'wants-login': 'needs a login',
  fails: 'failing',
  moved: 'moved',
  refused: 'connection refused',
  timeout: 'no answer in time',
  unreachable: 'unreachable',
  'not-asked': 'not asked',
}

function findingLines({ about, hint }: DoctorFinding): readonly string[] {
  return [`       wrong   ${about}`, `       hint    ${hint}`]
}

function countFindings(...found: readonly (readonly WithFindings[] | WithFindings)[]): string {
  const findings = found.flat().flatMap((each) => each.findings).length
  return findings === 1 ? '1 thing' : `${findings} things`
}

interface WithFindings {
  readonly findings: readonly DoctorFinding[]
}
