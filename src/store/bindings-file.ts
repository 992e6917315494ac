import { readFile } from 'node:fs/promises'
import { ReelayError } from '../errors.ts'

/** What stands in a bindings file that the user named. */
export async function readBindingsAt(path: string): Promise<unknown> {
  const text = await textOf(path)
  if (text === undefined) throw invalid(path, 'there is no such file')
  return parsed(path, text)
}

/** What stands in the bindings file beside a tape (`search.bindings.yaml` beside `search.tape.jsonl`); undefined without one. */
export async function readBindingsBeside(tapePath: string): Promise<unknown> {
  for (const ending of ENDINGS) {
    const path = tapePath.replace(/(\.tape)?\.jsonl$/, '') + ending
    const text = await textOf(path)
    if (text !== undefined) return parsed(path, text)
  }
  return undefined
}

const ENDINGS = ['.bindings.yaml', '.bindings.yml', '.bindings.json']

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw invalid(path, cause)
  }
}

// YAML is loaded only for whoever has such a file.
async function parsed(path: string, text: string): Promise<unknown> {
  try {
    return path.endsWith('.json') ? JSON.parse(text) : (await import('yaml')).parse(text)
  } catch (cause) {
    throw invalid(path, cause)
  }
}

function invalid(path: string, cause: unknown): ReelayError {
  const [why = ''] = (cause instanceof Error ? cause.message : String(cause)).split(/:?\n/, 1)
  return new ReelayError('BINDINGS_INVALID', `${path} cannot be read: ${why}`, {
    hint: 'correct that place in the file, or remove the file',
    cause,
  })
}
