import { suggestName } from '../text.ts'
import { ReelayError } from '../errors.ts'
import {
  readServerEntries,
  type ConfigOpenResult,
  type OpenConfig,
  type ConfigTarget,
  type LocatedConfigEntry,
} from './client-configs.ts'
import { applyConfigEdits, type ConfigEdit } from './configs/config-format.ts'
import { unifiedConfigDiff } from './configs/unified-diff.ts'
import type { WrapOutcome, WrapResult } from './wrap-result.ts'

/** The changes to entries of one config, and the notes to save about them. */
export interface ConfigChangePlan<Note> {
  readonly outcomes: readonly WrapOutcome[]
  readonly edits: readonly ConfigEdit[]
  readonly notes: readonly Note[]
}

interface ConfigChange<Note> {
  readonly servers: ServerSelection
  readonly dryRun: boolean
  readonly plan: (open: OpenConfig, entry: LocatedConfigEntry) => ConfigChangePlan<Note>
  /** Writes the text if it changes, and saves the notes. */
  readonly apply: (open: OpenConfig, plan: ConfigChangePlan<Note>, text: string) => void
}

/** Plans and applies a change to the selected entries of every config. A config that is refused does not stop the others. */
export function changeConfigs<Note>(
  opened: readonly ConfigOpenResult[],
  change: ConfigChange<Note>,
): WrapResult {
  const results = opened.map((each) => {
    if (each.kind === 'refused') return refusedResult(each.target, each.error)
    try {
      return changeConfig(each, change)
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      return refusedResult(each.target, error)
    }
  })
  return {
    dryRun: change.dryRun,
    outcomes: results.flatMap(({ outcomes }) => outcomes),
    diffs: results.flatMap(({ diffs }) => diffs),
  }
}

type FileResult = Pick<WrapResult, 'outcomes' | 'diffs'>

function changeConfig<Note>(
  open: OpenConfig,
  { servers, dryRun, plan, apply }: ConfigChange<Note>,
): FileResult {
  const { target, config, entries } = open
  const selected = entries.filter(({ server }) => servers === 'all' || servers.includes(server))
  const plans = selected.map((entry) => plan(open, entry))
  const outcomes = plans.flatMap((each) => each.outcomes)
  const edits = plans.flatMap((each) => each.edits)
  const notes = plans.flatMap((each) => each.notes)
  const text = applyConfigEdits(config.text, edits)
  readServerEntries(target, text) // never write a config that we cannot read back
  if (!dryRun) apply(open, { outcomes, edits, notes }, text)
  return { outcomes, diffs: edits.length === 0 ? [] : [unifiedConfigDiff(target.file, config.text, edits)] }
}

function refusedResult({ client, file }: ConfigTarget, { code, message, hint }: ReelayError): FileResult {
  const outcome = { client: client.name, file, code, why: message, hint: hint ?? null }
  return { outcomes: [{ kind: 'refused', ...outcome }], diffs: [] }
}

/** The servers that the user named, or all of them. */
export type ServerSelection = readonly string[] | 'all'

/** Rejects a name that no config contains, before anything is written. */
export function requireServers(
  servers: ServerSelection,
  opened: readonly ConfigOpenResult[],
  alsoKnown: readonly string[] = [],
): void {
  const found = opened
    .flatMap((each) => (each.kind === 'open' ? each.entries : []))
    .map(({ server }) => server)
  const missing =
    servers === 'all' ? [] : servers.filter((name) => !found.includes(name) && !alsoKnown.includes(name))
  if (missing.length === 0) return
  const files = opened.map(({ target }) => target.file)
  const names = missing.map((name) => JSON.stringify(name)).join(' or ')
  const places =
    files.length === 0 ? 'no config file of a supported client exists' : `looked in ${files.join(', ')}`
  throw new ReelayError('SERVER_NOT_FOUND', `no config contains a server ${names}: ${places}`, {
    hint:
      found.length === 0
        ? 'name a server of the config, not the client; use --file for a config elsewhere'
        : `the servers are: ${[...new Set(found)].join(', ')}${suggestName(missing[0] ?? '', [...new Set(found)])}`,
  })
}
