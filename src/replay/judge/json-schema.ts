import { createRequire } from 'node:module'
import type { ErrorObject } from 'ajv'
import type * as Ajv from 'ajv/dist/2020.js'
import { formatPath, type PathSegment } from '../../json/path.ts'
import { member } from '../../protocol/message.ts'

/** What a definition, by its reference, has against a value. */
type ValidateReference = (reference: string, value: unknown) => readonly ErrorObject[]

/** What breaks a schema. Where one of several definitions would do, only what the one that was meant says. */
export function intendedErrors(
  errors: readonly ErrorObject[],
  errorsBy: ValidateReference,
): readonly ErrorObject[] {
  const unions = errors.filter((error) => error.keyword === 'anyOf' && !isWithin(error, errors))
  const outside = errors.filter((error) => !unions.some((union) => isAt(error, union.instancePath)))
  return [...outside, ...unions.flatMap((union) => ofAlternative(union, errorsBy))]
}

function isWithin({ instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  return errors.some(
    (other) => other.keyword === 'anyOf' && instancePath.startsWith(`${other.instancePath}/`),
  )
}

function isAt({ instancePath }: ErrorObject, place: string): boolean {
  return instancePath === place || instancePath.startsWith(`${place}/`)
}

/** Meant is what has the fewest errors, if the members that are fixed, such as `type`, are as it says. */
function ofAlternative(union: ErrorObject, errorsBy: ValidateReference): readonly ErrorObject[] {
  const all: readonly unknown[] = Array.isArray(union.schema) ? union.schema : []
  const found = all
    .map((one) => member(one, '$ref'))
    .filter((reference) => typeof reference === 'string')
    .map((reference) => errorsBy(reference, union.data))
    .filter((errors) => !errors.some(isOfAnother))
    .toSorted((a, b) => a.length - b.length)[0]
  if (found === undefined) return [union]
  return found.map((error) => ({ ...error, instancePath: `${union.instancePath}${error.instancePath}` }))
}

function isOfAnother({ keyword, instancePath }: ErrorObject): boolean {
  return keyword === 'const' && instancePath.lastIndexOf('/') === 0
}

/** What of the schema is broken, and how: wherever it stands, because items move and servers make up names. */
export function kindOfError({ schemaPath, message }: ErrorObject): string {
  return `${schemaPath} ${message}`
}

/** Where, in the grammar that the options take. */
export function schemaErrorPath(root: readonly PathSegment[], { instancePath }: ErrorObject): string {
  return formatPath([...root, ...instancePath.split('/').slice(1).map(segmentOf)])
}

// A member whose name is a number is spelled as an item of a list: a pointer does not tell them apart.
function segmentOf(part: string): PathSegment {
  const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
  return /^\d+$/.test(name) ? Number(name) : name
}

/** Whether a value keeps to a schema; one that is nested so deeply that nobody can tell counts as if it did. */
export function passesSchema(validate: (value: unknown) => unknown, value: unknown): boolean {
  try {
    return validate(value) === true
  } catch (error) {
    if (error instanceof RangeError) return true
    throw error
  }
}

/** A validator for the schemas of strangers. Its code is loaded when the first one is needed: most runs need none. */
export function createAjv(): Ajv.Ajv2020 {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof Ajv
  return new Ajv2020({ strict: false, allErrors: true, verbose: true, logger: false, validateFormats: false })
}
