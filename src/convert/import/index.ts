import { ReelayError } from '../../errors.ts'
import { agentlogFormat } from './agentlog.ts'
import type { ImportFormat, ImportedRecording } from './import-format.ts'
import { mcpMessagesFormat } from './mcp-messages.ts'

/** The formats that can be imported, the most distinctive first. */
export const IMPORT_FORMATS: readonly ImportFormat[] = [agentlogFormat, mcpMessagesFormat]

/** Reads another tool's recording. Without a format name, the format is recognised by content. */
export function readImportedRecording(
  text: string,
  format?: string,
): ImportedRecording & { readonly format: string } {
  const found = IMPORT_FORMATS.find(({ name, matches }) =>
    format === undefined ? matches(text) : name === format,
  )
  if (found === undefined) throw unknownFormatError(format)
  return { format: found.name, ...found.read(text) }
}

function unknownFormatError(format: string | undefined): ReelayError {
  const names = IMPORT_FORMATS.map(({ name }) => name).join(', ')
  return format === undefined
    ? new ReelayError('IMPORT_FAILED', 'the format of the file is not recognised', {
        hint: `choose the format with --format: ${names}`,
      })
    : new ReelayError('USAGE', `unknown format "${format}"`, { hint: `choose one of ${names}` })
}
