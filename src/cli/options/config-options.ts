import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import {
  chooseConfig,
  findProjectConfig,
  usableConfigFile,
  type CodePolicy,
  type ProjectConfig,
} from '../../config/project-config.ts'
import type { Setting } from '../../config/setting.ts'
import { findConfigFile } from '../../config/trust.ts'
import { escapeControlChars } from '../../text.ts'
import {
  option,
  inGroup,
  type Environment,
  type OptionRow,
  type OptionRows,
  type OptionTable,
} from './option.ts'
import { fileValue, switchOff } from './option-types.ts'

export interface ConfigFlags {
  readonly config?: string
  readonly useConfig?: boolean
}

/** Options that select the project config. */
export const CONFIG_OPTIONS: OptionTable<ConfigFlags> = inGroup('Config', {
  config: option('--config', fileValue, 'Read this config file instead of the nearest reelay.config.yaml', {
    conflicts: ['useConfig'],
  }),
  useConfig: option('--no-config', switchOff, 'Ignore the project config'),
})

/** Reads the config that the options select: the given file, none, or the config of the project. */
export function readConfig(flags: ConfigFlags, code: CodePolicy): ProjectConfig | undefined {
  selectConfig(flags)
  return findProjectConfig(process.cwd(), code)
}

function selectConfig({ config, useConfig }: ConfigFlags): void {
  if (config !== undefined) return chooseConfig({ kind: 'named', file: resolve(config) })
  chooseConfig({ kind: useConfig === false ? 'none' : 'nearest' })
}

/**
 * Selects the config and names it on stderr. Commands call this before they print anything, because a config from elsewhere
 * changes what they do. Throws if the config must not be used.
 */
export function announceConfig(flags: ConfigFlags, code: CodePolicy): void {
  selectConfig(flags)
  const file = usableConfigFile(process.cwd(), code)
  // A config that is missing is an error of the command that reads it.
  if (file !== undefined && existsSync(file))
    return setsNothing(file) ? undefined : printConfigLine(`using the config ${file}`)
  if (file !== undefined) return
  const ignored = flags.useConfig === false ? undefined : findConfigFile(process.cwd())
  if (ignored !== undefined)
    printConfigLine(`not using ${ignored}: it is code, which this command never runs`)
}

/** Returns true for a YAML file whose keys have no values, such as the one that `reelay init` writes. */
function setsNothing(file: string): boolean {
  if (!/\.ya?ml$/.test(file)) return false
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.every((line) => /^\s*(#.*|[\w-]+:\s*(\[\]|\{\})?\s*)?$/.test(line))
}

function printConfigLine(text: string): void {
  process.stderr.write(`reelay: ${escapeControlChars(text)}\n`)
}

/** The keys of the project config that set an option. */
function configKeys({ config = [] }: OptionRow<unknown>): readonly string[] {
  return typeof config === 'string' ? [config] : config
}

/** Reads the values that a section of the config sets; a key that no row names is rejected. */
export function readSection<Values>(
  section: Setting,
  name: string,
  table: OptionTable<Values> & OptionRows,
  env: Environment,
): Partial<Values> {
  const values: Record<string, unknown> = {}
  const keys = Object.entries(table).flatMap(([target, row]) =>
    configKeys(row).map((key) => ({ target, row, path: key.split('.') })),
  )
  readMembers(section, keys.filter(({ path }) => path[0] === name).map(below), (key, setting) => {
    const value = key.row.type.fromConfig?.(setting, env)
    const before = values[key.target]
    values[key.target] = before === undefined ? value : joinSettings(key.row, before, value, setting)
  })
  return values as Partial<Values>
}

/** Joins the values of two keys of one option. Of two that turn the same thing on and off, `false` wins. */
function joinSettings({ type }: OptionRow<unknown>, before: unknown, value: unknown, at: Setting): unknown {
  if (type.kind === 'switch') return before === false ? false : value
  if (type.join !== undefined) return type.join(before, value)
  if (isDeepStrictEqual(before, value)) return value
  throw at.invalid('is given twice, under two names and with two values')
}

interface ConfigKey {
  readonly target: string
  readonly row: OptionRow<unknown>
  /** The rest of the path to the setting. */
  readonly path: readonly string[]
}

function below(key: ConfigKey): ConfigKey {
  return { ...key, path: key.path.slice(1) }
}

function readMembers(
  map: Setting,
  keys: readonly ConfigKey[],
  read: (key: ConfigKey, setting: Setting) => void,
): void {
  const known = [...new Set(keys.map(({ path }) => path[0] ?? ''))]
  const members = map.members(known)
  for (const name of known) {
    const setting = members[name]
    if (setting === undefined) continue
    const inside = keys.filter(({ path }) => path[0] === name).map(below)
    const [key] = inside
    if (key?.path.length === 0) read(key, setting)
    else readMembers(setting, inside, read)
  }
}
