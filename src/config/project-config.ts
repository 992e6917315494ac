import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ReelayError } from '../errors.ts'
import { readModule } from './read-module.ts'
import { readText } from './read-text.ts'
import { Setting } from './setting.ts'

const TEXTS = ['.yaml', '.yml', '.json']
const MODULES = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts']
const ENDINGS = [...TEXTS, ...MODULES]

/** The sections of a config. What is not among them is a slip of the pen, which might leave secrets on tapes. */
const SECTIONS = ['redaction', 'match', 'replay', 'serve'] as const

export interface ProjectConfig {
  readonly file: string
  /** A section, or undefined where there is none. */
  readonly section: (name: (typeof SECTIONS)[number]) => Setting | undefined
}

/** The project's config, from the nearest folder upward that has one. */
export function projectConfig(folder: string): ProjectConfig | undefined {
  const file = findConfig(folder)
  return file === undefined ? undefined : readConfig(file)
}

/** Reads a config file. A module of JavaScript is run: it is a program of whoever keeps the project. */
export function readConfig(file: string): ProjectConfig {
  const whole = MODULES.some((ending) => file.endsWith(ending)) ? readModule(file) : readText(file)
  const sections =
    whole.value === null ? {} : new Setting(whole, whole.value, []).members(['$schema', ...SECTIONS])
  return { file, section: (name) => (sections[name]?.value === null ? undefined : sections[name]) }
}

function findConfig(folder: string): string | undefined {
  const stem = join(folder, 'reelay.config')
  const [file, other] = ENDINGS.map((ending) => stem + ending).filter((path) => existsSync(path))
  if (other !== undefined)
    throw new ReelayError('SETTINGS_INVALID', `there are both ${file} and ${other}`, {
      hint: 'keep one of them',
    })
  const parent = dirname(folder)
  return file ?? (parent === folder ? undefined : findConfig(parent))
}
