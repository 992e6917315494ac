import { requireHere } from './require-here.ts'
import { ReelayError } from '../errors.ts'
import { member } from '../wire/message.ts'
import type { ConfigText } from './setting.ts'

/** Loads a config that is a module, for what only a function can say. Its places are named by their path. */
export function readModule(file: string): ConfigText {
  if (/\.[cm]?ts$/.test(file) && !loadsTypeScript())
    throw new ReelayError(
      'SETTINGS_INVALID',
      `${file} is TypeScript, which Node ${process.version} cannot load`,
      {
        hint: 'write it as reelay.config.mjs, or use Node 22.18 or newer',
      },
    )
  return { file, value: exportedBy(file), placeOf: () => file }
}

function loadsTypeScript(): boolean {
  return Boolean(member(process.features, 'typescript'))
}

// Loaded at once, not imported: a recorder that has started its server cannot wait.
function exportedBy(file: string): unknown {
  try {
    const loaded: unknown = requireHere(file)
    return member(loaded, 'default') ?? loaded
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
    throw new ReelayError('SETTINGS_INVALID', `${file} cannot be loaded: ${why}`, {
      hint: 'it has to export the config by default, and must not await at its top level',
      cause,
    })
  }
}
