import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isObject } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** The revision whose official schema a revision is judged by; 2024-11-05 has none here, and 2025-03-26 only adds to it. */
export const JUDGED_BY: ReadonlyMap<unknown, string> = new Map([
  ['2024-11-05', '2025-03-26'],
  ['2025-03-26', '2025-03-26'],
  ['2025-06-18', '2025-06-18'],
  ['2025-11-25', '2025-11-25'],
  ['2026-07-28', '2026-07-28'],
])

/** An official schema, and a quick look for each definition that an answer can be of: whether it is kept, and not why. */
export interface OfficialSchema {
  readonly schema: Readonly<Record<string, unknown>>
  readonly isKept: Readonly<Record<string, (value: unknown) => boolean>>
}

/** The official schema of a revision, which the build puts into the package; undefined when it is not there. */
export function officialSchema(revision: string): OfficialSchema | undefined {
  try {
    const schema = parseJson(readFileSync(new URL(`mcp-${revision}.json`, FOLDER), 'utf8'))
    const looks: unknown = createRequire(FOLDER)(`./mcp-${revision}.cjs`)
    return isObject(schema) ? { schema, isKept: looks as OfficialSchema['isKept'] } : undefined
  } catch {
    return undefined // whoever bundled us left it behind: then it is not judged by, which the report says
  }
}

// The same from a file of the library, from one of the packed program, and from the source.
const FOLDER = new URL('../../dist/schema/', import.meta.url)
