import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isObject, parseJson } from '../json/parse.ts'

/** An official schema, with compiled validators that tell whether a value is valid, but not why. */
export interface OfficialSchema {
  readonly schema: Readonly<Record<string, unknown>>
  readonly answerValidators: Validators
  /** Validators of notifications and requests of a server, loaded on demand because most servers send none. */
  readonly messageValidators: () => Validators
}

type Validators = Readonly<Record<string, (value: unknown) => boolean>>

/** Reads the official schema of a revision, which the build puts into the package. Returns `undefined` if it is missing. */
export function officialSchema(revision: string): OfficialSchema | undefined {
  try {
    const schema = parseJson(readFileSync(new URL(`mcp-${revision}.json`, FOLDER), 'utf8'))
    const answerValidators = loadValidators(`mcp-${revision}.cjs`)
    return isObject(schema)
      ? { schema, answerValidators, messageValidators: () => messageValidatorsOf(revision) }
      : undefined
  } catch {
    return undefined // a bundle may not contain the file; the report then says that answers are not validated
  }
}

function messageValidatorsOf(revision: string): Validators {
  try {
    return loadValidators(`mcp-${revision}-words.cjs`)
  } catch {
    return {} // older builds do not have these validators
  }
}

function loadValidators(file: string): Validators {
  const looks: unknown = createRequire(FOLDER)(`./${file}`)
  return looks as Validators
}

// This path is the same for the library, the packed program and the source, because all of them are two folders deep.
const FOLDER = new URL('../../dist/schema/', import.meta.url)
