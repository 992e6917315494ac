import { basename } from 'node:path'
import { requireSync } from './require-here.ts'
import { ReelayError } from '../errors.ts'
import { member } from '../protocol/message.ts'
import type { ConfigSource } from './setting.ts'

/** Loads a config that is a module, for what only a function can say. Its places are named by their path. */
export function readModuleConfig(file: string): ConfigSource {
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

// Loaded at once, not imported: a recorder that has started its server cannot wait.
function loadExport(file: string): unknown {
  try {
    const loaded: unknown = requireSync(file)
    return member(loaded, 'default') ?? loaded
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
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

const EXPORT_HINT = 'it has to export the config by default, and must not await at its top level'

/** Node takes types away, and translates nothing. */
function typeScriptHint(cause: unknown): string {
  const code = member(cause, 'code')
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return 'Node takes types away and translates nothing: write an enum as an object, do without namespaces and parameter properties, or write it as reelay.config.mjs'
  if (code === 'ERR_INVALID_TYPESCRIPT_SYNTAX') return 'correct that place in the file'
  if (/does not provide an export named/.test(String(cause)))
    return 'a type is not there any more when the file is run: import it with `import type`'
  return EXPORT_HINT
}

/** Of CommonJS and TypeScript that it cannot read, Node tells the line before everything else, in the stack alone. */
function syntaxErrorLocation(file: string, cause: unknown): string {
  const stack = cause instanceof SyntaxError ? (cause.stack ?? '') : ''
  const [, path = '', line] = /^(.+):(\d+)\n/.exec(stack) ?? []
  return path.endsWith(basename(file)) ? `${file}, line ${line},` : file
}
