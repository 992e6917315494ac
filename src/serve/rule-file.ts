import { readFile } from 'node:fs/promises'
import { ReelayError } from '../errors.ts'
import { invalidSetting, type EntryLocator } from './faults/request-selector.ts'

interface RuleFile {
  readonly value: unknown
  readonly place: EntryLocator
}

/** Reads a file of faults or overrides: YAML, of which JSON is a part. The parser is loaded only for it. */
export async function readRuleFile(path: string): Promise<RuleFile> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ReelayError('SETTINGS_INVALID', `${path} cannot be read: ${why}`, {
      hint: 'name a YAML or JSON file',
      cause,
    })
  })
  const { LineCounter, parseDocument, isNode } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line}:${col}`
  }
  const [problem] = document.errors
  if (problem !== undefined) throw invalidSetting(at(problem.pos[0]), problem.message, 'it is YAML, or JSON')
  const place: EntryLocator = (steps) => {
    const node = document.getIn(steps, true)
    return at((isNode(node) ? node.range?.[0] : undefined) ?? 0)
  }
  return { value: plainValue(document, at(0)), place }
}

// References that repeat each other without end are found only here.
function plainValue(document: { toJS(): unknown }, where: string): unknown {
  try {
    return document.toJS()
  } catch (cause) {
    throw invalidSetting(where, cause instanceof Error ? cause.message : String(cause), 'it is YAML, or JSON')
  }
}
