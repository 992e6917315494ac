import { ReelayError } from '../errors.ts'
import { homeFolder, tapeFolder } from '../store/home.ts'
import { bridgedServer } from './bridged-server.ts'
import { checkRecorder, type TriedRecorders } from './check-recorder.ts'
import { checkRemote, type Patience, type RemoteState } from './check-remote.ts'
import { checkTapeFolder } from './check-tapes.ts'
import type { Where } from './client.ts'
import type { Finding } from './finding.ts'
import { isSameEntry, Memory, type Remembered } from './memory.ts'
import { newestTape, type NewestTape } from './newest-tape.ts'
import { openConfigs, type Looked, type Open, type PlacedEntry } from './open-config.ts'
import { knownTargets, realFile } from './targets.ts'
import { wrappedCommand, type WrappedCommand } from './wrapped-command.ts'

/** An entry that is wrapped, or was. */
export interface CheckedEntry {
  readonly client: string
  readonly file: string
  readonly server: string
  readonly wrapped: boolean
  readonly since: string | null
  readonly tape: string | null
  readonly newest: NewestTape | null
  /** The server behind a bridge; null when a command is wrapped. */
  readonly remote: (RemoteState & { readonly where: string }) | null
  readonly findings: readonly Finding[]
}

/** A config file that was found. */
export interface CheckedConfig {
  readonly client: string
  readonly file: string
  readonly servers: readonly string[]
  readonly findings: readonly Finding[]
}

export interface Checkup {
  readonly configs: readonly CheckedConfig[]
  readonly entries: readonly CheckedEntry[]
  readonly tapes: { readonly folder: string; readonly findings: readonly Finding[] }
  readonly healthy: boolean
}

export interface DoctorOptions {
  /** How many milliseconds the servers behind bridges are waited for; `never` asks none of them. */
  readonly askFor?: number | 'never'
}

const ASK_FOR_MS = 5000

/** Looks at every config of every client, at every entry that is or was wrapped in them, and at the tape folder. */
export async function doctor(where: Where, { askFor = ASK_FOR_MS }: DoctorOptions = {}): Promise<Checkup> {
  const memory = new Memory(homeFolder(where.env))
  const looked = openConfigs(knownTargets({ where }, memory.entries))
  const patience = askFor === 'never' ? undefined : askFor
  const rounds = { memory, where, patience, tried: new Map() }
  const open = looked.filter((each) => each.kind === 'open')
  const checked = await Promise.all(open.map((each) => checkEntries(each, rounds)))
  const entries = checked.flat()
  entries.push(...memory.entries.filter((entry) => isLeftOver(entry, looked)).map(leftOver))
  const folder = tapeFolder(where.env)
  const tapes = { folder, findings: checkTapeFolder(folder, where.platform) }
  const configs = looked.map(checkedConfig)
  const healthy = [...configs, ...entries, tapes].every(({ findings }) => findings.length === 0)
  return { configs, entries, tapes, healthy }
}

interface Rounds {
  readonly memory: Memory
  readonly where: Where
  readonly patience: Patience
  readonly tried: TriedRecorders
}

/** All at once: a server that does not answer keeps nobody waiting but itself. */
async function checkEntries(open: Open, rounds: Rounds): Promise<readonly CheckedEntry[]> {
  const checks = open.entries.map(async (entry) => {
    const command = wrappedCommand(entry.link)
    return command === undefined ? [] : [await checkEntry(open, entry, { ...rounds, command })]
  })
  return (await Promise.all(checks)).flat()
}

async function checkEntry(
  { target, config }: Open,
  entry: PlacedEntry,
  { command, memory, where, patience, tried }: Rounds & { readonly command: WrappedCommand },
): Promise<CheckedEntry> {
  const { root, server } = entry
  const remembered = memory.find({ file: config.path, root, server })
  const tape = command.tape ?? null
  const bridged = bridgedServer(entry, where.env)
  const [recorder, remote, recorded] = await Promise.all([
    checkRecorder(command.starter, server, tried),
    bridged && checkRemote(bridged, server, patience),
    tape === null ? NOTHING_RECORDED : recordedOn(tape, where.env),
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
      ...(remembered === undefined ? [notRemembered(server)] : []),
      ...recorder,
      ...(remote?.findings ?? []),
      ...recorded.findings,
    ],
  }
}

const NOTHING_RECORDED = { newest: null, findings: [] }

async function recordedOn(
  tape: string,
  env: NodeJS.ProcessEnv,
): Promise<Pick<CheckedEntry, 'newest' | 'findings'>> {
  try {
    return { newest: (await newestTape(tape, env)) ?? null, findings: [] }
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const { message, hint = 'wrap the entry again' } = error
    return { newest: null, findings: [{ kind: 'tape-unusable', about: message, hint }] }
  }
}

function notRemembered(server: string): Finding {
  return {
    kind: 'not-remembered',
    about: 'it is wrapped, and Reelay does not remember how it was before',
    hint: `reelay unwrap ${server} restores what it means; its formatting may differ`,
  }
}

/** Remembered as wrapped in a config that could be read, or is gone, and does not say so. */
function isLeftOver(entry: Remembered, looked: readonly Looked[]): boolean {
  return !looked.some((each) => {
    if (each.kind === 'refused') return realFile(each.target.file) === entry.file
    const file = each.config.path
    return each.entries.some(
      ({ root, server, link }) =>
        isSameEntry({ file, root, server }, entry) && wrappedCommand(link) !== undefined,
    )
  })
}

function leftOver({ client, file, server, since, tape }: Remembered): CheckedEntry {
  const about = 'it was wrapped, and is so no longer: the config was changed by someone else'
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

function checkedConfig(looked: Looked): CheckedConfig {
  const { client, file } = looked.target
  const place = { client: client.name, file }
  if (looked.kind === 'open')
    return { ...place, servers: looked.entries.map(({ server }) => server), findings: [] }
  const { message, hint = 'mend the file' } = looked.error
  return { ...place, servers: [], findings: [{ kind: 'config-refused', about: message, hint }] }
}
