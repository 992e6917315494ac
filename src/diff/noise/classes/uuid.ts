import { areStrings, type ClassKind, type ValueClass } from './value-class.ts'

/** UUIDs of one version, in upper or lower case as seen. */
export const uuid: ClassKind = {
  name: 'uuid',
  infer: (values) => {
    if (!areStrings(values) || !values.every((value) => UUID.test(value))) return undefined
    return uuidClass(new Set(values.map(kindOf)))
  },
  read: (written) => uuidClass(new Set(written.texts('versions'))),
}

function uuidClass(versions: ReadonlySet<string>): ValueClass {
  return {
    text: 'uuid',
    written: { is: 'uuid', versions: [...versions].toSorted() },
    accepts: (value) => typeof value === 'string' && UUID.test(value) && versions.has(kindOf(value)),
  }
}

const UUID =
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$|^[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}$/

/** Returns `undefined` if the text is not a UUID. */
export function uuidKindOf(text: string): string | undefined {
  return UUID.test(text) ? kindOf(text) : undefined
}

/** The version, and the case if it is upper. The nil UUID is a kind of its own, because it stands for a missing value. */
function kindOf(text: string): string {
  if (/^[0-]*$/.test(text)) return 'nil'
  const version = text[14] ?? ''
  return /[A-F]/.test(text) ? `${version} in upper case` : version
}
