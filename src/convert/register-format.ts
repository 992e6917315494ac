import type { ExportFormat } from './export/export-format.ts'
import type { ImportFormat } from './import/import-format.ts'

/** A format of your own: what is needed to read it, to write it, or both. */
export interface CustomFormat
  extends Pick<ImportFormat, 'name'>, Partial<Omit<ImportFormat & ExportFormat, 'name'>> {}

/**
 * Adds a format to `reelay import`, `export` and `convert`, and to `importTape` and `exportTape`. It is tried before the built-in
 * formats. Call it in `reelay.config.mjs`, or in your program. A format with the same name is replaced.
 *
 * @example
 * registerFormat({
 *   name: 'mine',
 *   reject: ({ firstRows }) => (firstRows.some((row) => 'mine' in row.object) ? undefined : 'no "mine"'),
 *   read: ({ lines }) => ({
 *     frames: lines.rows.map((row) => ({ kind: 'message', dir: row.object.dir, text: row.get('mine').text })),
 *   }),
 *   extension: '.mine',
 *   write: ({ turns }) => turns.map(({ trigger }) => trigger.text).join('\n'),
 * })
 */
export function registerFormat(format: CustomFormat): void {
  const formats = registeredFormats()
  const known = formats.findIndex(({ name }) => name === format.name)
  if (known >= 0) formats.splice(known, 1)
  formats.push(format)
}

/** A config imports the library, and the command line is a program of its own. Both see the same list. */
function registeredFormats(): CustomFormat[] {
  const holder = globalThis as { [FORMATS]?: CustomFormat[] }
  return (holder[FORMATS] ??= [])
}

const FORMATS: unique symbol = Symbol.for('reelay.formats') as never

export function registeredImports(): readonly ImportFormat[] {
  return registeredFormats().flatMap(({ name, description = name, read, reject = onlyByName }) =>
    read === undefined ? [] : [{ name, description, read, reject }],
  )
}

function onlyByName(): string {
  return 'it has no reject(), so it has to be chosen with --format'
}

export function registeredExports(): readonly ExportFormat[] {
  return registeredFormats().flatMap(
    ({ name, description = name, write, extension = `.${name}`, holdsOneServer = false }) =>
      write === undefined ? [] : [{ name, description, write, extension, holdsOneServer }],
  )
}
