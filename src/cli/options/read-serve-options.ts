import { readFile } from 'node:fs/promises'
import { findProjectConfig } from '../../config/project-config.ts'
import { ReelayError } from '../../errors.ts'
import { parseFaultRules, type FaultRule } from '../../faults/fault-rules.ts'
import { parseRuleFile } from '../../faults/rule-file.ts'
import { quoteShellWord } from '../../match/miss/shell-command.ts'
import { type MatchOptions, readMatchSettings, type MatchSettings } from '../../match/options.ts'
import { parseOverrides, type Override } from '../../serve/overrides.ts'
import type { ClientAnswerPolicy } from '../../serve/player/server-requests.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import type { CompanionFile } from '../../store/companion-files.ts'

/** How a tape is to be played, as the command line says it. */
export interface PlayFlags {
  readonly pace?: ServeOptions['pace']
  readonly paceCap?: number
  readonly order?: 'any' | 'recorded'
  readonly onClientAnswer?: ClientAnswerPolicy
  readonly override?: string
  readonly faults?: string
  readonly seed?: number
  readonly clock?: ClockFlag
}

/** The options that the flags stand for; files are read now. */
export async function readPlayFlags(flags: PlayFlags): Promise<Partial<ServeOptions>> {
  const { pace, paceCap, order, onClientAnswer, override, faults, seed } = flags
  if (paceCap !== undefined && pace === undefined)
    throw new ReelayError('USAGE', '--pace-cap bounds the waits of a pace, and there is none', {
      hint: 'add --pace recorded',
    })
  return {
    ...(pace !== undefined && { pace }),
    ...(paceCap !== undefined && { paceCap }),
    ...(order && { order }),
    ...(onClientAnswer && { onClientAnswer }),
    ...(override !== undefined && { overrides: await readOverridesFile(override) }),
    ...(faults !== undefined && { faults: await readFaultsFile(faults) }),
    ...(seed !== undefined && { seed }),
  }
}

export async function readFaultsFile(path: string): Promise<readonly FaultRule[]> {
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
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ReelayError('SETTINGS_INVALID', `${path} cannot be read: ${why}`, {
      hint: 'give the path of a YAML or JSON file',
      cause,
    })
  })
  return parseRuleFile(text, path)
}

/** The options of playing as they are written: a command that is advised has them too, or it would be another run. */
export function formatPlayFlags(flags: PlayFlags & { readonly secrets?: string }): readonly string[] {
  const { pace, paceCap, order, onClientAnswer, override, faults, seed, clock, secrets } = flags
  return [
    ...formatFlag('--pace', pace === undefined || pace === 'none' ? undefined : formatPace(String(pace))),
    ...formatFlag('--pace-cap', paceCap === undefined ? undefined : `${paceCap}ms`),
    ...formatFlag('--order', order),
    ...formatFlag('--on-client-answer', onClientAnswer),
    ...formatFlag('--override', override),
    ...formatFlag('--faults', faults),
    ...formatFlag('--seed', seed),
    ...formatFlag('--clock', typeof clock === 'number' ? new Date(clock).toISOString() : clock),
    ...formatFlag('--secrets', secrets),
  ]
}

function formatFlag(option: string, value: string | number | undefined): readonly string[] {
  return value === undefined ? [] : [option, quoteShellWord(String(value))]
}

function formatPace(speed: string): string {
  return speed === '1' ? 'recorded' : `x${speed}`
}

/** Which time it is for a run: the tape's, or one that the user names. It stands still. */
type ClockFlag = 'recorded' | number

/** Reads `recorded`, a date, or a date and time; without a zone it is UTC. */
export function readClockOption(text: string): ClockFlag {
  if (text === 'recorded') return 'recorded'
  const isIso = ISO.test(text)
  const time = isIso ? Date.parse(HAS_ZONE.test(text) || !text.includes('T') ? text : `${text}Z`) : Number.NaN
  if (!Number.isNaN(time)) return time
  throw new ReelayError('USAGE', `--clock ${text} is no time`, {
    hint: 'recorded, for when the tape was begun, or a date such as 2026-11-15 or 2026-11-15T07:20:59Z',
  })
}

const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/
const HAS_ZONE = /(?:Z|[+-]\d\d:\d\d)$/

/** What the run asks for the time; nothing means the clock on the wall. */
export function fixedClock(
  clock: ClockFlag | undefined,
  { started }: { readonly started: string },
): { readonly now?: () => number } {
  if (clock === undefined) return {}
  const time = clock === 'recorded' ? Date.parse(started) : clock
  return { now: () => time }
}

export interface MatchFlags extends Omit<MatchOptions, 'rules'> {
  readonly rule?: readonly string[]
}

export function readMatchFlags({
  match,
  rule = [],
  ignore = [],
  permissive = false,
}: MatchFlags): MatchOptions {
  return { ...(match !== undefined && { match }), rules: rule, ignore, permissive }
}

/** What the project's config says about matching, and where it stands. */
export function readConfiguredMatching(): { settings: MatchSettings; path?: string } {
  const config = findProjectConfig(process.cwd())
  if (config === undefined) return { settings: { rules: [] } }
  const section = config.section('match')
  const settings = readMatchSettings(section?.value, section?.location ?? config.file)
  return { settings, path: config.file }
}

/** What changes the comparison without standing on the command line: nobody should have to wonder. */
export function describeMatchSettings(
  { settings, path = '' }: { settings: MatchSettings; path?: string },
  beside: MatchSettings,
  file: CompanionFile | undefined,
): readonly string[] {
  return [...describeSettingsFile(beside, file?.path ?? ''), ...describeSettingsFile(settings, path)]
}

function describeSettingsFile({ match, rules }: MatchSettings, path: string): readonly string[] {
  const said = [
    ...(match === undefined ? [] : [`strategy ${match}`]),
    ...(rules.length === 0 ? [] : [`${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`]),
  ]
  return said.length === 0 ? [] : [`matching: ${said.join(' and ')} from ${path}`]
}
