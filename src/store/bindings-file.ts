import { readFile } from 'node:fs/promises'
import { ReelayError } from '../errors.ts'

/** What stands in a bindings file, and where it is. */
export interface BindingsFileContent {
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
