import { existsSync, readFileSync } from 'node:fs'
import { errorMessage, ReelayError, type ErrorCode } from '../errors.ts'
import { isObject } from '../json/parse.ts'
import { writeOwnFile } from './file/replace-file.ts'

// Files that belong to a tape, in the same folder: `search.match.yaml`, `search.bindings.yaml` and `search.noise.yaml` for
// `search.tape.jsonl`.

/** A settings file and its parsed content. */
export interface CompanionFile {
  readonly path: string
  readonly value: unknown
}

/** Reads the matching rules beside a tape. Returns `undefined` if there is no such file. */
export async function readMatchFile(tapePath: string): Promise<CompanionFile | undefined> {
  const paths = companionPaths(tapePath, '.match')
  const texts = paths.map((path) => readText(path, 'SETTINGS_INVALID'))
  const [file, other] = texts.filter((found) => found !== undefined)
  if (file === undefined) return undefined
  if (other === undefined) return { path: file.path, value: await parseText(file, 'SETTINGS_INVALID') }
  throw new ReelayError('SETTINGS_INVALID', `there are both ${file.path} and ${other.path}`, {
    hint: 'keep one of them',
  })
}

/** Writes the matching rules beside a tape and returns the path. Everything else in the file stays, comments included. */
export async function writeMatchRules(tapePath: string, rules: readonly string[]): Promise<string> {
  const file = await readMatchFile(tapePath)
  const path = file?.path ?? companionPaths(tapePath, '.match')[0]
  const before = file === undefined ? undefined : readFileSync(path, 'utf8')
  const text = path.endsWith('.json') ? rulesAsJson(file?.value, rules) : await rulesAsYaml(before, rules)
  await writeCompanionFile(path, text)
  return path
}

async function writeCompanionFile(path: string, text: string): Promise<void> {
  try {
    await writeOwnFile(path, [text])
  } catch (cause) {
    throw new ReelayError('SETTINGS_UNWRITABLE', `${path} cannot be written: ${String(cause)}`, {
      hint: 'check that the folder exists and is writable',
      cause,
    })
  }
}

/** The paths of the files that belong to a tape. */
export function companionFilesOf(tapePath: string): readonly string[] {
  return COMPANION_KINDS.flatMap((kind) => companionPaths(tapePath, kind).filter((path) => existsSync(path)))
}

/** Where a companion file of one tape belongs for another tape. */
export function companionFileFor(tapePath: string, companion: string): string {
  const suffix = /\.(match|bindings|noise)\.(yaml|yml|json)$/.exec(companion)?.[0] ?? ''
  return tapePath.replace(TAPE_SUFFIX, '') + suffix
}

const COMPANION_KINDS = ['.match', '.bindings', '.noise']
const TAPE_SUFFIX = /(\.tape)?\.jsonl$/

/** Returns the path of the noise profile next to a tape, or `undefined` if there is none. */
export function findNoiseFile(tapePath: string): string | undefined {
  return companionPaths(tapePath, '.noise').find((path) => existsSync(path))
}

/** Writes a noise profile, by default next to the tape, and returns its path. */
export async function writeNoiseFile(
  tapePath: string,
  { path = findNoiseFile(tapePath) ?? companionPaths(tapePath, '.noise')[0], value }: NoiseFileContent,
): Promise<string> {
  const text = path.endsWith('.json') ? `${JSON.stringify(value, null, 2)}\n` : await noiseAsYaml(value)
  await writeCompanionFile(path, text)
  return path
}

interface NoiseFileContent {
  readonly path?: string | undefined
  readonly value: unknown
}

/** Returns the path of the bindings file next to a tape, or `undefined` if there is none. */
export function findBindingsFile(tapePath: string): string | undefined {
  return companionPaths(tapePath, '.bindings').find((path) => existsSync(path))
}

/** Reads a bindings file that the user named. Returns `undefined` if it is empty. */
export async function readBindingsFileAt(path: string): Promise<CompanionFile | undefined> {
  const file = readText(path, 'BINDINGS_INVALID')
  if (file === undefined) throw invalidFile('BINDINGS_INVALID', path, 'there is no such file')
  return parseBindings(file)
}

/** Reads the bindings file beside a tape. Returns `undefined` if there is none, or if it is empty. */
export async function readBindingsForTape(tapePath: string): Promise<CompanionFile | undefined> {
  for (const path of companionPaths(tapePath, '.bindings')) {
    const file = readText(path, 'BINDINGS_INVALID')
    if (file !== undefined) return parseBindings(file)
  }
  return undefined
}

/** Calls `use`, and adds the path of the bindings file to an error in its content. */
export function withBindingsFilePath<Result>(path: string, use: () => Result): Result {
  try {
    return use()
  } catch (error) {
    if (!(error instanceof ReelayError) || error.code !== 'BINDINGS_INVALID') throw error
    const hint = error.hint ?? FILE_HINT
    throw new ReelayError(error.code, `${path}: ${error.message}`, { hint, cause: error })
  }
}

function companionPaths(tapePath: string, kind: string): readonly [string, string, string] {
  const stem = tapePath.replace(TAPE_SUFFIX, '') + kind
  return [`${stem}.yaml`, `${stem}.yml`, `${stem}.json`]
}

interface CompanionText {
  readonly path: string
  readonly text: string
}

function readText(path: string, code: ErrorCode): CompanionText | undefined {
  if (!existsSync(path)) return undefined
  try {
    return { path, text: readFileSync(path, 'utf8') }
  } catch (cause) {
    throw invalidFile(code, path, cause)
  }
}

// The YAML parser is loaded only if there is a file to parse.
async function parseText({ path, text }: CompanionText, code: ErrorCode): Promise<unknown> {
  try {
    return path.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).parse(text)
  } catch (cause) {
    throw invalidFile(code, path, cause)
  }
}

// In `inspect --bindings-file > search.bindings.yaml` the shell creates an empty file before `inspect` looks for one.
async function parseBindings(file: CompanionText): Promise<CompanionFile | undefined> {
  const value = file.text.trim() === '' ? undefined : await parseText(file, 'BINDINGS_INVALID')
  return value === undefined || value === null ? undefined : { path: file.path, value }
}

function invalidFile(code: ErrorCode, path: string, cause: unknown): ReelayError {
  const [why = ''] = errorMessage(cause).split(/:?\n/, 1)
  const hint =
    typeof cause === 'string' || (cause instanceof Error && 'syscall' in cause)
      ? 'check the path and the permissions'
      : FILE_HINT
  return new ReelayError(code, `${path} cannot be read: ${why}`, { hint, cause })
}

const FILE_HINT = 'correct that place in the file, or remove the file'

function rulesAsJson(value: unknown, rules: readonly string[]): string {
  return `${JSON.stringify({ ...(isObject(value) ? value : {}), rules }, null, 2)}\n`
}

const MATCH_FILE_COMMENT =
  ' Matching rules for the tape of this name; edit them with: reelay match add, list, remove'

// Items that stay are not written again, so that they keep their comments.
async function rulesAsYaml(before: string | undefined, rules: readonly string[]): Promise<string> {
  const { Document, isScalar, isSeq, parseDocument } = await import('yaml')
  const document = before === undefined ? new Document({}) : parseDocument(before)
  if (before === undefined) document.commentBefore = MATCH_FILE_COMMENT
  if (!isSeq(document.get('rules'))) document.set('rules', document.createNode([]))
  const list = document.get('rules')
  if (!isSeq(list)) throw new TypeError('the new list of rules is not a list')
  list.flow = false // An empty list was parsed as [], and further items would be written in that style.
  const kept = list.items.filter((item) => isScalar(item) && rules.includes(String(item.value)))
  const known = new Set(kept.map((item) => (isScalar(item) ? String(item.value) : '')))
  list.items = [...kept, ...rules.filter((rule) => !known.has(rule)).map((rule) => document.createNode(rule))]
  return document.toString({ lineWidth: 0 })
}

const NOISE_FILE_COMMENT = [
  ' What varies in the responses of the known-good server to the requests of the tape of this name.',
  ' Written by: reelay learn. Used by: reelay verify. Reviewed with: reelay noise show, accept, forget.',
].join('\n')

/** Short objects and lists stay on one line. */
async function noiseAsYaml(value: unknown): Promise<string> {
  const { Document, isPair, isSeq, visit } = await import('yaml')
  const document = new Document(value)
  document.commentBefore = NOISE_FILE_COMMENT
  visit(document, {
    Collection: (_, node, ancestors) => {
      const parent = ancestors.at(-1)
      const isMember = isPair(parent) && String(parent.key) !== 'noise'
      const isPart = isSeq(parent) && ancestors.some((one) => isPair(one) && String(one.key) === 'class')
      if ((!isMember && !isPart) || JSON.stringify(node).length > LONGEST_LINE) return undefined
      node.flow = true
      return visit.SKIP
    },
  })
  // Block scalars lose spaces at the end of lines.
  return document.toString({ lineWidth: 0, blockQuote: false })
}

const LONGEST_LINE = 110
