import { ReelayError } from '../../errors.ts'
import { registeredImports } from '../register-format.ts'
import { agentlogFormat } from './agentlog.ts'
import { agentVcrFormat, inspectorFormat, mcpRecorderFormat, pairsFormat } from './exchange-lists.ts'
import { harFormat, inspectorNetworkFormat } from './har.ts'
import type { ImportedRecording, ImportFormat } from './import-format.ts'
import type { ImportSource } from './import-source.ts'
import { mcpMessagesFormat } from './mcp-messages.ts'
import {
  directedLinesFormat,
  mcpCassetteJsonlFormat,
  mcporterFormat,
  mcpRecFormat,
  mcpRecorderJsonlFormat,
  mcpsnoopFormat,
  mcpTapeFormat,
  shadowcatFormat,
} from './message-lines.ts'
import {
  flightRecorderFormat,
  mcpCassettePyFormat,
  mcpVcrFormat,
  observatoryFormat,
  qaiFormat,
  qaiResultsFormat,
} from './message-lists.ts'
import { pcapFormat } from './pcap.ts'
import {
  agentVcrCallsFormat,
  claudeCodeFormat,
  codexFormat,
  geminiFormat,
  mcpSpecFormat,
  timeTravelFormat,
} from './tool-calls.ts'
import { yamlFormat } from './yaml.ts'
import { repairRecording } from './repair.ts'
import { suggestName } from '../../text.ts'

/** The formats that can be imported, the most distinctive first. */
export const IMPORT_FORMATS: readonly ImportFormat[] = [
  pcapFormat,
  harFormat,
  agentVcrFormat,
  mcpCassettePyFormat,
  mcpRecorderFormat,
  qaiFormat,
  qaiResultsFormat,
  flightRecorderFormat,
  observatoryFormat,
  agentVcrCallsFormat,
  mcpSpecFormat,
  inspectorFormat,
  inspectorNetworkFormat,
  geminiFormat,
  mcporterFormat,
  mcpCassetteJsonlFormat,
  shadowcatFormat,
  mcpsnoopFormat,
  mcpTapeFormat,
  mcpRecFormat,
  mcpRecorderJsonlFormat,
  timeTravelFormat,
  claudeCodeFormat,
  codexFormat,
  agentlogFormat,
  directedLinesFormat,
  yamlFormat,
  mcpVcrFormat,
  mcpMessagesFormat,
  pairsFormat,
]

function importFormats(): readonly ImportFormat[] {
  return [...registeredImports(), ...IMPORT_FORMATS]
}

/** Reads another tool's recording. Without a format name, the format is recognised by content. */
export function readImportedRecording(
  source: ImportSource,
  format?: string,
): ImportedRecording & { readonly format: string } {
  if (TAPE_START.every((byte, at) => source.bytes[at] === byte)) throw alreadyTape()
  const found = format === undefined ? recognise(source) : namedFormat(format)
  const recording = found.read(source)
  if (recording.frames.length === 0) {
    const reason = found.reject(source)
    const why = reason === undefined ? '' : `: ${reason}`
    throw new ReelayError(
      'IMPORT_FAILED',
      `the file contains no messages in the format ${found.name}${why}`,
      {
        hint: 'leave out --format to have the format recognised',
      },
    )
  }
  const isOurs = found.name === 'yaml' || found.name === 'har'
  return { format: found.name, ...(isOurs ? recording : repairRecording(recording)) }
}

const TAPE_START: Uint8Array = new TextEncoder().encode('{"reelay":')

function alreadyTape(): ReelayError {
  return new ReelayError('IMPORT_FAILED', 'the file is a tape already', { hint: 'use it by its path' })
}

function namedFormat(name: string): ImportFormat {
  const found = importFormats().find((each) => each.name === name)
  if (found !== undefined) return found
  const known = importFormats().map((each) => each.name)
  throw new ReelayError('USAGE', `unknown format "${name}"${suggestName(name, known)}`, {
    hint: `choose one of ${known.join(', ')}`,
  })
}

function recognise(source: ImportSource): ImportFormat {
  const reasons = new Map<string, string[]>()
  for (const format of importFormats()) {
    const reason = format.reject(source)
    if (reason === undefined) return format
    reasons.set(reason, [...(reasons.get(reason) ?? []), format.name])
  }
  throw unrecognised(source, reasons)
}

function unrecognised(source: ImportSource, reasons: ReadonlyMap<string, readonly string[]>): ReelayError {
  if (source.bytes.length === 0)
    return new ReelayError('IMPORT_FAILED', 'the file is empty', { hint: 'check whether its recorder ran' })
  const tried = [...reasons].map(([reason, names]) => `${names.join(', ')} (${reason})`).join('; ')
  return new ReelayError('IMPORT_FAILED', `the format of the file is not recognised; tried ${tried}`, {
    hint: 'choose the format with --format, if you know it; docs/reference/import.md describes them',
  })
}
