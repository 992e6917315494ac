import { ReelayError } from '../errors.ts'
import { agentlog } from './agentlog.ts'
import type { ForeignFormat, ForeignRecording } from './foreign.ts'
import { mcpMessages } from './mcp-messages.ts'

/** The formats that can be read, the most telling first. */
export const FORMATS: readonly ForeignFormat[] = [agentlog, mcpMessages]

/** Reads another tool's recording; without a format it is told by its looks. */
export function readForeign(text: string, format?: string): ForeignRecording & { readonly format: string } {
  const found = FORMATS.find(({ name, isLike }) => (format === undefined ? isLike(text) : name === format))
  if (found === undefined) throw unknownFormat(format)
  return { format: found.name, ...found.read(text) }
}

function unknownFormat(format: string | undefined): ReelayError {
  const names = FORMATS.map(({ name }) => name).join(', ')
  return format === undefined
    ? new ReelayError('IMPORT_FAILED', 'the file looks like no recording that is known', {
        hint: `say what it is with --format: ${names}`,
      })
    : new ReelayError('USAGE', `there is no format "${format}"`, { hint: `choose one of ${names}` })
}
