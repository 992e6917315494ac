import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { ReelayError } from '../errors.ts'
import { isObject } from '../protocol/message.ts'

/** The matching rules that stand beside a tape: `search.match.yaml` beside `search.tape.jsonl`. */
export function readMatchFile(tapePath: string): Promise<CompanionFile | undefined> {
  return readCompanionFile(MATCH_EXTENSIONS.map((ending) => companionPath(tapePath, ending)))
}

/** Writes the rules beside a tape; what else stands in the file stays, comments included. */
export async function writeMatchRules(tapePath: string, rules: readonly string[]): Promise<string> {
  const file = await readMatchFile(tapePath)
  const path = file?.path ?? companionPath(tapePath, MATCH_EXTENSIONS[0])
  const before = file === undefined ? undefined : await readFile(path, 'utf8')
  const text = path.endsWith('.json') ? rulesAsJson(file?.value, rules) : await rulesAsYaml(before, rules)
  await replaceSettingsFile(path, text)
  return path
}

const MATCH_EXTENSIONS = ['.match.yaml', '.match.yml', '.match.json'] as const

function companionPath(tapePath: string, ending: string): string {
  return tapePath.replace(/(\.tape)?\.jsonl$/, '') + ending
}

function rulesAsJson(value: unknown, rules: readonly string[]): string {
  return `${JSON.stringify({ ...(isObject(value) ? value : {}), rules }, null, 2)}\n`
}

const MATCH_FILE_COMMENT =
  ' How requests are compared with the tape of this name: reelay match add, list, remove'

// What stays is not written anew, so that its comments stay with it.
async function rulesAsYaml(before: string | undefined, rules: readonly string[]): Promise<string> {
  const { Document, isScalar, isSeq, parseDocument } = await import('yaml')
  const document = before === undefined ? new Document({}) : parseDocument(before)
  if (before === undefined) document.commentBefore = MATCH_FILE_COMMENT
  if (!isSeq(document.get('rules'))) document.set('rules', document.createNode([]))
  const list = document.get('rules')
  if (!isSeq(list)) throw new TypeError('a list that was just made is none')
  list.flow = false // an empty list is written as [], and would go on like that
  const kept = list.items.filter((item) => isScalar(item) && rules.includes(String(item.value)))
  const known = new Set(kept.map((item) => (isScalar(item) ? String(item.value) : '')))
  list.items = [...kept, ...rules.filter((rule) => !known.has(rule)).map((rule) => document.createNode(rule))]
  return document.toString({ lineWidth: 0 })
}

/** A reader sees the old file or the new one, never a part. */
async function replaceSettingsFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.new`
  try {
    await writeFile(fresh, text)
    await rename(fresh, path)
  } catch (cause) {
    await rm(fresh, { force: true })
    throw new ReelayError('SETTINGS_UNWRITABLE', `${path} cannot be written: ${String(cause)}`, {
      hint: 'check that the folder is there and may be written to',
      cause,
    })
  }
}

/** A settings file, and what stands in it. */
export interface CompanionFile {
  readonly path: string
  readonly value: unknown
}

/** Reads the one of these files that is there. Two would contradict each other sooner or later. */
async function readCompanionFile(paths: readonly string[]): Promise<CompanionFile | undefined> {
  const found = (await Promise.all(paths.map(readCompanionText))).filter((file) => file !== undefined)
  const [file, other] = found
  if (file === undefined) return undefined
  if (other !== undefined)
    throw new ReelayError('SETTINGS_INVALID', `there are both ${file.path} and ${other.path}`, {
      hint: 'keep one of them',
    })
  return { path: file.path, value: await parseCompanion(file) }
}

interface CompanionText {
  readonly path: string
  readonly text: string
}

async function readCompanionText(path: string): Promise<CompanionText | undefined> {
  try {
    return { path, text: await readFile(path, 'utf8') }
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw new ReelayError('SETTINGS_INVALID', `${path} cannot be read: ${String(cause)}`, { cause })
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

async function parseCompanion({ path, text }: CompanionText): Promise<unknown> {
  try {
    if (path.endsWith('.json')) return JSON.parse(text)
    const { parse } = await import('yaml')
    return parse(text)
  } catch (cause) {
    const [why = ''] = (cause instanceof Error ? cause.message : String(cause)).split(/:?\n/, 1)
    throw new ReelayError('SETTINGS_INVALID', `${path} cannot be read: ${why}`, {
      hint: 'correct that place in the file, or remove the file',
      cause,
    })
  }
}

/** What stands in a bindings file, and where it is. */
interface BindingsFileContent {
  readonly path: string
  readonly value: unknown
}

/** What stands in a bindings file that the user named; undefined when it is empty. */
export async function readBindingsFileAt(path: string): Promise<BindingsFileContent | undefined> {
  const text = await readBindingsText(path)
  if (text === undefined) throw invalidBindings(path, 'there is no such file')
  return bindingsContent(path, text)
}

/** What stands in the bindings file beside a tape (`search.bindings.yaml` beside `search.tape.jsonl`); undefined without one. */
export async function readBindingsForTape(tapePath: string): Promise<BindingsFileContent | undefined> {
  for (const ending of BINDINGS_EXTENSIONS) {
    const path = tapePath.replace(/(\.tape)?\.jsonl$/, '') + ending
    const text = await readBindingsText(path)
    if (text !== undefined) return bindingsContent(path, text)
  }
  return undefined
}

/** Passes on what `use` makes of it; what it refuses is told with the file. */
export function withBindingsFilePath<Result>(path: string, use: () => Result): Result {
  try {
    return use()
  } catch (error) {
    if (!(error instanceof ReelayError) || error.code !== 'BINDINGS_INVALID') throw error
    const hint = error.hint ?? BINDINGS_HINT
    throw new ReelayError(error.code, `${path}: ${error.message}`, { hint, cause: error })
  }
}

const BINDINGS_HINT = 'correct that place in the file, or remove the file'

const BINDINGS_EXTENSIONS = ['.bindings.yaml', '.bindings.yml', '.bindings.json']

async function readBindingsText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw invalidBindings(path, cause)
  }
}

// A shell makes the file before `inspect --bindings-file > …` can look for it: one without a word says nothing.
async function bindingsContent(path: string, text: string): Promise<BindingsFileContent | undefined> {
  const value = text.trim() === '' ? undefined : await parseBindingsText(path, text)
  return value === undefined || value === null ? undefined : { path, value }
}

// YAML is loaded only for whoever has such a file.
async function parseBindingsText(path: string, text: string): Promise<unknown> {
  try {
    return path.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).parse(text)
  } catch (cause) {
    throw invalidBindings(path, cause)
  }
}

function invalidBindings(path: string, cause: unknown): ReelayError {
  const [why = ''] = (cause instanceof Error ? cause.message : String(cause)).split(/:?\n/, 1)
  return new ReelayError('BINDINGS_INVALID', `${path} cannot be read: ${why}`, {
    hint: BINDINGS_HINT,
    cause,
  })
}
