import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { Document, LineCounter, Node } from 'yaml'
import { findConfigFile, isCodeConfig, requireTrust } from './trust.ts'
import { Setting, type ConfigSource, type ConfigPath } from './setting.ts'
import { errorMessage, ReelayError } from '../errors.ts'
import { member } from '../json/parse.ts'

/** The sections of a config. Others are rejected, because a typo might leave secrets on tapes. */
const SECTIONS = ['redaction', 'match', 'replay', 'serve'] as const

export interface ProjectConfig {
  readonly file: string
  /** Returns a section, or `undefined` if the config does not have it. */
  readonly section: (name: (typeof SECTIONS)[number]) => Setting | undefined
}

/**
 * What to do with a config that is code. `run` runs it if the user has trusted it. Commands that only read a tape never run
 * code: with `ignore` they do without the config, and with `refuse` they fail, because rules for secrets could be missing.
 */
export type CodePolicy = 'run' | 'ignore' | 'refuse'

/** The config that the command line selects. Naming a file also says that the user trusts it. */
export type ConfigChoice =
  | { readonly kind: 'nearest' }
  | { readonly kind: 'none' }
  | { readonly kind: 'named'; readonly file: string }

/** Selects the config for the whole process, because every part of a command has to use the same one. */
export function chooseConfig(next: ConfigChoice): void {
  choice = next
}

let choice: ConfigChoice = { kind: 'nearest' }

/** Reads the config that was selected; by default that of this folder or the nearest one above it. */
export function findProjectConfig(folder: string, code: CodePolicy): ProjectConfig | undefined {
  const file = usableConfigFile(folder, code)
  return file === undefined ? undefined : readProjectConfig(file)
}

/** The path of the config that `findProjectConfig` reads. Throws if the config must not be used. */
export function usableConfigFile(folder: string, code: CodePolicy): string | undefined {
  if (choice.kind === 'none') return undefined
  const file = choice.kind === 'named' ? choice.file : findConfigFile(folder)
  if (file === undefined || !isCodeConfig(file)) return file
  if (code === 'run') {
    if (choice.kind !== 'named') requireTrust(file)
    return file
  }
  if (code === 'ignore' && choice.kind === 'nearest') return undefined
  throw new ReelayError('CONFIG_NOT_TRUSTED', `the config ${file} is code, which this command never runs`, {
    hint: 'name a YAML or JSON file with --config, or use --no-config',
  })
}

/** Reads a config file. A JavaScript module is executed. */
export function readProjectConfig(file: string): ProjectConfig {
  const whole = isCodeConfig(file) ? readModuleConfig(file) : readTextConfig(file)
  const sections =
    whole.value === null ? {} : new Setting(whole, whole.value, []).members(['$schema', ...SECTIONS])
  return { file, section: (name) => (sections[name]?.value === null ? undefined : sections[name]) }
}

/** Reads another settings file in YAML or JSON. Errors name the line and end with the hint. */
export function readSettingsFile(
  file: string,
  { hint, maxBytes }: { readonly hint: string; readonly maxBytes: number },
): Setting {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > maxBytes)
    throw new ReelayError('SETTINGS_INVALID', `${file} is larger than ${maxBytes / 1024 / 1024} MiB`, {
      hint,
    })
  const source = readTextConfig(file)
  return new Setting({ ...source, hint }, source.value, [])
}

type Yaml = typeof import('yaml')

/** Reads YAML, and JSON, which is a subset of it, with the location of every value. */
function readTextConfig(file: string): ConfigSource {
  // A recorder that has started its server cannot wait for an import, and without a config it loads no parser.
  const yaml = requireSync('yaml') as Yaml
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(readConfigText(file), { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined)
    throw new ReelayError(
      'SETTINGS_INVALID',
      `${formatLocation(file, lines, error.pos[0])}: ${error.message.split(/ at line|\n/)[0]}`,
      { hint: 'correct that place in the file, or remove the file', cause: error },
    )
  return {
    file,
    value: documentValue(file, document),
    locate: (path, part) => formatLocation(file, lines, offsetOf({ yaml, document }, path, part)),
  }
}

/** References in YAML may be circular, or expand to more than fits into memory. */
function documentValue(file: string, document: Document): unknown {
  try {
    const value: unknown = document.toJS()
    JSON.stringify(value)
    return value
  } catch (cause) {
    const why = errorMessage(cause).split('\n', 1)[0]
    throw new ReelayError('SETTINGS_INVALID', `${file} cannot be read: ${why}`, {
      hint: 'write the value itself instead of a reference (*name)',
      cause,
    })
  }
}

function readConfigText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ReelayError('SETTINGS_INVALID', `${file} cannot be read: ${errorMessage(cause)}`, {
      hint: 'check the path and the permissions',
      cause,
    })
  }
}

function formatLocation(file: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return `${file}, line ${line}, column ${col}`
}

/** The offset of a value, or of the name of a member. For a missing value, that of its parent. */
function offsetOf(
  { yaml, document }: { yaml: Yaml; document: Document },
  path: ConfigPath,
  part: 'name' | 'value',
): number {
  const holder = document.getIn(path.slice(0, -1), true)
  const pair = yaml.isMap(holder)
    ? holder.items.find(({ key }) => yaml.isScalar(key) && key.value === path.at(-1))
    : undefined
  const node = (part === 'name' && pair !== undefined ? pair.key : document.getIn(path, true)) as
    | Node
    | null
    | undefined
  if (node?.range) return node.range[0]
  return path.length === 0 ? 0 : offsetOf({ yaml, document }, path.slice(0, -1), 'value')
}

/** Loads a config that is a module, which may contain functions. Its locations have no line. */
function readModuleConfig(file: string): ConfigSource {
  if (isTypeScript(file) && !loadsTypeScript())
    throw new ReelayError(
      'SETTINGS_INVALID',
      `${file} is TypeScript, which Node ${process.version} cannot load`,
      {
        hint: 'write it as reelay.config.mjs, or use Node 22.18 or newer',
      },
    )
  return { file, value: loadExport(file), locate: () => file }
}

function isTypeScript(file: string): boolean {
  return /\.[cm]?ts$/.test(file)
}

function loadsTypeScript(): boolean {
  return Boolean(member(process.features, 'typescript'))
}

// Synchronous, because a recorder that has started its server cannot wait.
function loadExport(file: string): unknown {
  try {
    const loaded: unknown = requireSync(file)
    return member(loaded, 'default') ?? loaded
  } catch (cause) {
    const why = errorMessage(cause).split('\n', 1)[0]
    const hint = isTypeScript(file) ? typeScriptHint(cause) : EXPORT_HINT
    throw new ReelayError(
      'SETTINGS_INVALID',
      `${syntaxErrorLocation(file, cause)} cannot be loaded: ${why}`,
      {
        hint,
        cause,
      },
    )
  }
}

const EXPORT_HINT = 'make the config the default export, and do not use await at the top level'

/** Node removes types and translates nothing else. */
function typeScriptHint(cause: unknown): string {
  const code = member(cause, 'code')
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Node only removes types: use an object instead of an enum, avoid namespaces and parameter properties, or write it as reelay.config.mjs'
  if (code === 'ERR_INVALID_TYPESCRIPT_SYNTAX') return 'correct that place in the file'
  if (/does not provide an export named/.test(String(cause)))
    return 'types do not exist at run time: import them with `import type`'
  return EXPORT_HINT
}

/** For a syntax error in CommonJS or TypeScript, only the first line of the stack names the line. */
function syntaxErrorLocation(file: string, cause: unknown): string {
  const stack = cause instanceof SyntaxError ? (cause.stack ?? '') : ''
  const [, path = '', line] = /^(.+):(\d+)\n/.exec(stack) ?? []
  return path.endsWith(basename(file)) ? `${file}, line ${line},` : file
}

/**
 * Loads a module at once, as if from here: a recorder that has started its server cannot wait for an import. Without a config
 * nothing is loaded, not even Node's own loader of modules.
 */
function requireSync(name: string): unknown {
  return process.getBuiltinModule('node:module').createRequire(import.meta.url)(name)
}
