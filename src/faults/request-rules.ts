import { suggestName } from '../text.ts'
import { errorMessage, ReelayError } from '../errors.ts'
import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../json/parse.ts'
import { calledTool, type Request } from '../protocol/message.ts'

/** A parsed file of faults or overrides. */
interface RuleFile {
  readonly value: unknown
  readonly locate: EntryLocator
}

/** Formats the location of a value for error messages: `faults.yaml:4:5`, or `faults[1]` for rules given in code. */
export type EntryLocator = (path: readonly (string | number)[]) => string

/** Parses YAML, and JSON as a subset of it. The YAML parser is loaded only when it is needed. */
export async function parseRuleFile(text: string, path: string): Promise<RuleFile> {
  const { LineCounter, parseDocument, isNode } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${path}:${line}:${col}`
  }
  const [problem] = document.errors
  if (problem !== undefined) throw invalidSetting(at(problem.pos[0]), problem.message, NOT_YAML)
  const locate: EntryLocator = (steps) => {
    const node = document.getIn(steps, true)
    return at((isNode(node) ? node.range?.[0] : undefined) ?? 0)
  }
  try {
    return { value: document.toJS(), locate }
  } catch (cause) {
    // The parser finds aliases that expand without end only when it resolves them.
    throw invalidSetting(at(0), errorMessage(cause), NOT_YAML)
  }
}

const NOT_YAML = 'write the file as YAML or JSON'

export const locateInProgram: EntryLocator = (path) =>
  path
    .map((step, depth) => (typeof step === 'number' ? `[${step}]` : depth === 0 ? step : `.${step}`))
    .join('')

/** One entry of a rule file and its location. */
export interface RuleEntry {
  readonly entry: JsonObject
  readonly at: string
}

/** Returns the entries of the list `name`. A file may also consist of the list alone. */
export function readEntries(value: unknown, name: string, locate: EntryLocator): readonly RuleEntry[] {
  const list = isObject(value) ? value[name] : value
  const at = (index: number): string => locate(isObject(value) ? [name, index] : [index])
  if (!Array.isArray(list))
    throw invalidSetting(locate([]), `expected a list of ${name}`, `start the list with "${name}:"`)
  return list.map((entry: unknown, index) => requireObject(entry, at(index)))
}

export function requireObject(entry: unknown, at: string): RuleEntry {
  if (isObject(entry)) return { entry, at }
  throw invalidSetting(at, 'this entry is not an object', 'write it as "key: value"')
}

/** Rejects misspelled keys. */
export function requireKnownKeys(
  { entry, at }: RuleEntry,
  known: readonly string[],
  hint = `the keys are ${known.join(', ')}`,
): void {
  const unknown = Object.keys(entry).find((key) => !known.includes(key))
  if (unknown !== undefined)
    throw invalidSetting(at, `unknown key ${JSON.stringify(unknown)}${suggestName(unknown, known)}`, hint)
}

export function invalidSetting(at: string, why: string, hint?: string): ReelayError {
  return new ReelayError('SETTINGS_INVALID', `${at}: ${why}`, hint === undefined ? {} : { hint })
}

/** Selects requests. Members that are not set match every request. */
export interface RequestSelector {
  readonly method?: string
  readonly tool?: string
  /** Values that the params must contain; the request may have more. */
  readonly params?: unknown
}

export type MethodCall = Pick<Request, 'method' | 'params'>

export function matchesSelector({ method, tool, params }: RequestSelector, call: MethodCall): boolean {
  if (method !== undefined && method !== call.method) return false
  if (tool !== undefined && tool !== calledTool(call)) return false
  return params === undefined || containsValue(call.params, params)
}

/** Describes a selector: `call of search with {"limit":10}`. */
export function describeSelector({ method, tool, params }: RequestSelector): string {
  const subject = tool === undefined ? (method ?? 'request') : `call of ${tool}`
  return params === undefined ? subject : `${subject} with ${canonicalJson(params)}`
}

export function parseSelector({ entry, at }: RuleEntry): RequestSelector {
  const { method, tool, params } = entry
  if (method !== undefined && typeof method !== 'string') throw invalidSetting(at, '"method" is not a string')
  if (tool !== undefined && typeof tool !== 'string') throw invalidSetting(at, '"tool" is not a string')
  return {
    ...(method !== undefined && { method }),
    ...(tool !== undefined && { tool }),
    ...(params !== undefined && { params }),
  }
}

/** Objects may have further members; arrays must have the same length. */
function containsValue(value: unknown, part: unknown): boolean {
  if (Array.isArray(part))
    return (
      Array.isArray(value) &&
      value.length === part.length &&
      part.every((item, place) => containsValue(value[place], item))
    )
  if (!isObject(part)) return canonicalJson(value) === canonicalJson(part)
  return (
    isObject(value) &&
    Object.keys(part).every((name) => Object.hasOwn(value, name) && containsValue(value[name], part[name]))
  )
}
