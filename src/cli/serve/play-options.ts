import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { errorMessage, ReelayError } from '../../errors.ts'
import { readMatchSettings, type MatchSettings } from '../../match/options.ts'
import { FAULT_PRESETS, presetFaults } from '../../faults/presets.ts'
import { parseFaultRules, type FaultRule } from '../../faults/fault-rules.ts'
import { parseRuleFile } from '../../faults/request-rules.ts'
import { parseOverrides, type Override } from '../../serve/overrides.ts'
import type { SessionLimits } from '../../serve/http/session-table.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import { similarName } from '../../text.ts'
import type { CompanionFile } from '../../store/companion-files.ts'
import { readConfig, type ConfigFlags } from '../options/config-options.ts'
import type { ClockFlag, ServeFlags } from '../options/serve-options.ts'

/** Converts the flags to options of the library, and reads the files that they name. */
export async function readPlayOptions(flags: ServeFlags): Promise<Partial<ServeOptions> & SessionLimits> {
  const { as, pace, paceCap, order, onClientAnswer, seed, match, rules = [], ignore = [], permissive } = flags
  const { override, faults } = flags
  return {
    ...(pace !== undefined && { pace }),
    ...(paceCap !== undefined && { paceCap }),
    ...(as !== undefined && { as }),
    ...(order && { order }),
    ...(onClientAnswer && { onClientAnswer }),
    ...(override !== undefined && { overrides: await readOverridesFile(override) }),
    ...(faults !== undefined && { faults: await readFaultsFile(faults) }),
    ...(seed !== undefined && { seed }),
    ...sessionLimits(flags),
    ...(match !== undefined && { match }),
    rules,
    ignore,
    permissive: permissive ?? false,
    secrets: await readServeSecrets(flags),
  }
}

/** The limits of a server over HTTP. */
export function sessionLimits({ maxSessions, sessionIdleMs }: SessionLimits): SessionLimits {
  return { maxSessions, sessionIdleMs }
}

/** Reads a file of faults, or the name of a preset such as `slow`. */
export async function readFaultsFile(path: string): Promise<readonly FaultRule[]> {
  const preset = presetFaults(path)
  if (preset !== undefined) return preset
  const similar = existsSync(path)
    ? undefined
    : similarName(
        path,
        FAULT_PRESETS.map(({ name }) => name),
      )
  if (similar !== undefined)
    throw new ReelayError(
      'SETTINGS_INVALID',
      `there is no preset of faults ${JSON.stringify(path)}, and no such file`,
      {
        hint: `did you mean ${similar}? reelay faults lists the presets`,
      },
    )
  const { value, locate } = await readRuleFile(path)
  return parseFaultRules(value, locate)
}

async function readOverridesFile(path: string): Promise<readonly Override[]> {
  const { value, locate } = await readRuleFile(path)
  return parseOverrides(value, locate)
}

/** Reads a file of faults or overrides. */
export async function readRuleFile(path: string): ReturnType<typeof parseRuleFile> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const why = errorMessage(cause)
    throw new ReelayError('SETTINGS_INVALID', `${path} cannot be read: ${why}`, {
      hint: 'give the path of a YAML or JSON file; for faults also a preset, which reelay faults lists',
      cause,
    })
  })
  return parseRuleFile(text, path)
}

/** The reader is loaded only if it is needed, because on stdio a client is waiting. */
export async function readServeSecrets({ secret, secrets }: ServeFlags): Promise<readonly string[]> {
  if (secret === undefined && secrets === undefined) return []
  const { readSecretValues } = await import('../options/live-options.ts')
  return readSecretValues({ ...(secret && { secret }), ...(secrets !== undefined && { secrets }) })
}

/** The clock of a run with a fixed time. Without one, a run uses the system clock. */
export function fixedClock(
  clock: ClockFlag | undefined,
  { started }: { readonly started: string },
): { readonly now?: () => number } {
  if (clock === undefined) return {}
  const time = clock === 'recorded' ? Date.parse(started) : clock
  return { now: () => time }
}

/** The matching settings of the project config, and its path. */
export function readConfiguredMatching(flags: ConfigFlags): { settings: MatchSettings; path?: string } {
  const config = readConfig(flags, 'ignore')
  if (config === undefined) return { settings: { rules: [] } }
  const section = config.section('match')
  const settings = readMatchSettings(section?.value, section?.location ?? config.file)
  return { settings, path: config.file }
}

/** Lines that name the files whose settings change how requests are matched. */
export function describeMatchSettings(
  { settings, path = '' }: { settings: MatchSettings; path?: string },
  beside: MatchSettings,
  file: CompanionFile | undefined,
): readonly string[] {
  return [...describeSettingsFile(beside, file?.path ?? ''), ...describeSettingsFile(settings, path)]
}

function describeSettingsFile({ match, rules }: MatchSettings, path: string): readonly string[] {
  const parts = [
    ...(match === undefined ? [] : [`strategy ${match}`]),
    ...(rules.length === 0 ? [] : [`${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`]),
  ]
  return parts.length === 0 ? [] : [`matching: ${parts.join(' and ')} from ${path}`]
}
