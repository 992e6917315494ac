import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { ReelayError } from '../errors.ts'
import type { RuleChanges } from '../redact/rule-set.ts'
import { readRedactionSection } from './redaction-section.ts'

const NAMES = ['reelay.config.yaml', 'reelay.config.yml', 'reelay.config.json']

/** What the project says about redaction: a section of the config in the nearest folder upward that has one, or nothing. */
export function redactionConfig(folder: string): RuleChanges {
  const file = NAMES.map((name) => join(folder, name)).find((path) => existsSync(path))
  if (file !== undefined) return readConfig(file)
  const parent = dirname(folder)
  return parent === folder ? {} : redactionConfig(parent)
}

// A recorder that has started its server cannot wait for an import, and one without a config loads no parser.
function readConfig(file: string): RuleChanges {
  const yaml = createRequire(import.meta.url)('yaml') as typeof import('yaml')
  const lines = new yaml.LineCounter()
  const document = yaml.parseDocument(readFileSync(file, 'utf8'), { lineCounter: lines })
  const [error] = document.errors
  if (error === undefined) return readRedactionSection({ file, document, lines, yaml })
  const { line, col } = lines.linePos(error.pos[0])
  const why = error.message.split(/ at line|\n/)[0]
  throw new ReelayError('REDACTION_CONFIG', `${file}, line ${line}, column ${col}: ${why}`, {
    hint: 'mend the file; nothing is recorded with half of the rules',
    cause: error,
  })
}
