import { readFileSync } from 'node:fs'
import { requireSync } from './require-here.ts'
import type { Document, LineCounter, Node } from 'yaml'
import { ReelayError } from '../errors.ts'
import type { ConfigSource, ConfigPath } from './setting.ts'

type Yaml = typeof import('yaml')

/** Reads YAML, and JSON as the YAML that it is, with the place of everything. */
export function readTextConfig(file: string): ConfigSource {
  // A recorder that has started its server cannot wait for an import, and one without a config loads no parser.
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

/** References may be endless, or few that stand for more than there is memory for. */
function documentValue(file: string, document: Document): unknown {
  try {
    const value: unknown = document.toJS()
    JSON.stringify(value)
    return value
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
    throw new ReelayError('SETTINGS_INVALID', `${file} cannot be read: ${why}`, {
      hint: 'write the value itself where a reference (*name) stands',
      cause,
    })
  }
}

function readConfigText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new ReelayError('SETTINGS_INVALID', `${file} cannot be read: ${String(cause)}`, {
      hint: 'check the path and the permissions',
      cause,
    })
  }
}

function formatLocation(file: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset)
  return `${file}, line ${line}, column ${col}`
}

/** Where a value begins, or the name of a member; for what is not there, what should hold it. */
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
