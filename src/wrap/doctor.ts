import { ReelayError } from '../errors.ts'
import { homeFolder, tapeFolder } from '../store/home.ts'
import { checkRecorder } from './check-recorder.ts'
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

/** Looks at every config of every client, at every entry that is or was wrapped in them, and at the tape folder. */
export async function doctor(where: Where): Promise<Checkup> {
  const memory = new Memory(homeFolder(where.env))
  const looked = openConfigs(knownTargets({ where }, memory.entries))
  const entries: CheckedEntry[] = []
  for (const each of looked)
    if (each.kind === 'open') entries.push(...(await checkEntries(each, memory, where)))
  entries.push(...memory.entries.filter((entry) => isLeftOver(entry, looked)).map(leftOver))
  const folder = tapeFolder(where.env)
  const tapes = { folder, findings: checkTapeFolder(folder, where.platform) }
  const configs = looked.map(checkedConfig)
  const healthy = [...configs, ...entries, tapes].every(({ findings }) => findings.length === 0)
  return { configs, entries, tapes, healthy }
}

async function checkEntries(open: Open, memory: Memory, where: Where): Promise<readonly CheckedEntry[]> {
  const checked: CheckedEntry[] = []
  for (const entry of open.entries) {
    const command = wrappedCommand(entry.link)
    if (command !== undefined) checked.push(await checkEntry(open, entry, { command, memory, where }))
  }
  return checked
}

async function checkEntry(
  { target, config }: Open,
  { root, server }: PlacedEntry,
  { command, memory, where }: { command: WrappedCommand; memory: Memory; where: Where },
): Promise<CheckedEntry> {
  const remembered = memory.find({ file: config.path, root, server })
  const tape = command.tape ?? null
  const recorded = tape === null ? NOTHING_RECORDED : await recordedOn(tape, where.env)
  return {
    client: target.client.name,
    file: target.file,
    server,
    wrapped: true,
    since: remembered?.since ?? null,
    tape,
    newest: recorded.newest,
    findings: [
      ...(remembered === undefined ? [notRemembered(server)] : []),
      ...(await checkRecorder(command.starter, server)),
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
  return { client, file, server, wrapped: false, since, tape, newest: null, findings: [finding] }
}

function checkedConfig(looked: Looked): CheckedConfig {
  const { client, file } = looked.target
  const place = { client: client.name, file }
  if (looked.kind === 'open')
    return { ...place, servers: looked.entries.map(({ server }) => server), findings: [] }
  const { message, hint = 'mend the file' } = looked.error
  return { ...place, servers: [], findings: [{ kind: 'config-refused', about: message, hint }] }
}
