import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isObject } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/** An official schema, and a quick look for each definition that an answer can be of: whether it is kept, and not why. */
export interface OfficialSchema {
  readonly schema: Readonly<Record<string, unknown>>
  readonly answerValidators: Validators
  /** The same for notifications and requests of a server; most say none. */
  readonly messageValidators: () => Validators
}

type Validators = Readonly<Record<string, (value: unknown) => boolean>>

/** The official schema of a revision, which the build puts into the package; undefined when it is not there. */
export function officialSchema(revision: string): OfficialSchema | undefined {
  try {
    const schema = parseJson(readFileSync(new URL(`mcp-${revision}.json`, FOLDER), 'utf8'))
    const answerValidators = loadValidators(`mcp-${revision}.cjs`)
    return isObject(schema)
      ? { schema, answerValidators, messageValidators: () => messageValidatorsOf(revision) }
      : undefined
  } catch {
    return undefined // whoever bundled us left it behind: then it is not judged by, which the report says
  }
}

function messageValidatorsOf(revision: string): Validators {
  try {
    return loadValidators(`mcp-${revision}-words.cjs`)
  } catch {
    return {} // a build from before there were any
  }
}

function loadValidators(file: string): Validators {
  const looks: unknown = createRequire(FOLDER)(`./${file}`)
  return looks as Validators
}

// The same from a file of the library, from one of the packed program, and from the source.
const FOLDER = new URL('../../dist/schema/', import.meta.url)
