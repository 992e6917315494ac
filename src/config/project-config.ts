import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ReelayError } from '../errors.ts'
import { readModuleConfig } from './read-module.ts'
import { readTextConfig } from './read-text.ts'
import { Setting } from './setting.ts'

const TEXT_EXTENSIONS = ['.yaml', '.yml', '.json']
const MODULE_EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']
const CONFIG_EXTENSIONS = [...TEXT_EXTENSIONS, ...MODULE_EXTENSIONS]

/** The sections of a config. What is not among them is a slip of the pen, which might leave secrets on tapes. */
const SECTIONS = ['redaction', 'match', 'replay', 'serve'] as const

export interface ProjectConfig {
  readonly file: string
  /** A section, or undefined where there is none. */
  readonly section: (name: (typeof SECTIONS)[number]) => Setting | undefined
}

/** The project's config, from the nearest folder upward that has one. */
export function findProjectConfig(folder: string): ProjectConfig | undefined {
  const file = configFileFrom(folder)
  return file === undefined ? undefined : readProjectConfig(file)
}

/** Reads a config file. A module of JavaScript is run: it is a program of whoever keeps the project. */
export function readProjectConfig(file: string): ProjectConfig {
  const whole = MODULE_EXTENSIONS.some((ending) => file.endsWith(ending))
    ? readModuleConfig(file)
    : readTextConfig(file)
  const sections =
    whole.value === null ? {} : new Setting(whole, whole.value, []).members(['$schema', ...SECTIONS])
  return { file, section: (name) => (sections[name]?.value === null ? undefined : sections[name]) }
}

function configFileFrom(folder: string): string | undefined {
  const stem = join(folder, 'reelay.config')
  const [file, other] = CONFIG_EXTENSIONS.map((ending) => stem + ending).filter((path) => existsSync(path))
  if (other !== undefined)
    throw new ReelayError('SETTINGS_INVALID', `there are both ${file} and ${other}`, {
      hint: 'keep one of them',
    })
  const parent = dirname(folder)
  return file ?? (parent === folder ? undefined : configFileFrom(parent))
}
