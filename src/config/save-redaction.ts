import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ReelayError } from '../errors.ts'

/** What a user adds to the `redaction` section of a config. */
export interface RuleAdditions {
  readonly rules: readonly { readonly name: string; readonly pattern: string }[]
  readonly fields: readonly string[]
  readonly off: readonly string[]
  readonly allow: readonly string[]
}

/** Adds to the config of a folder, and makes one if there is none; comments and everything else stay. Returns its path. */
export async function saveRedaction(folder: string, additions: RuleAdditions): Promise<string> {
  const { parseDocument } = await import('yaml')
  const file = join(folder, 'reelay.config.yaml')
  const document = parseDocument(existsSync(file) ? readFileSync(file, 'utf8') : '')
  const [error] = document.errors
  if (error !== undefined) throw unsaved(file, error)
  for (const [name, items] of Object.entries(additions)) {
    if (items.length === 0) continue
    const known = document.getIn(['redaction', name]) as { toJSON?: () => unknown } | undefined
    const before = known?.toJSON?.()
    document.setIn(['redaction', name], document.createNode(joined(before, items)))
  }
  try {
    writeFileSync(file, String(document))
  } catch (failure) {
    throw unsaved(file, failure)
  }
  return file
}

function joined(before: unknown, items: readonly unknown[]): readonly unknown[] {
  const all = [...(Array.isArray(before) ? before : []), ...items]
  const texts = all.map((item) => JSON.stringify(item))
  return all.filter((_, place) => texts.indexOf(texts[place] ?? '') === place)
}

function unsaved(file: string, cause: unknown): ReelayError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ReelayError('REDACTION_CONFIG', `${file} cannot be changed: ${why}`, {
    hint: 'mend the file, or add the rules by hand',
    cause,
  })
}
