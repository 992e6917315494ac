import { ReelayError } from '../../errors.ts'
import { registeredExports } from '../register-format.ts'
import { insomniaExport, postmanExport } from './collections.ts'
import { agentVcrExport, shadowExport } from './exchange-files.ts'
import { type ExportedTape, type ExportFormat, Losses } from './export-format.ts'
import { harExport } from './har.ts'
import {
  jsonlExport,
  mcpCassetteExport,
  mcporterExport,
  mcpRecExport,
  qaiExport,
  qaiResultsExport,
} from './message-files.ts'
import { openapiExport } from './openapi.ts'
import { curlExport, k6Export, nodeTestExport, playwrightExport, vitestExport } from './scripts.ts'
import { otlpExport, traceExport } from './traces.ts'
import { yamlExport } from './yaml.ts'
import { suggestName } from '../../text.ts'

/** The formats that can be written. */
export const EXPORT_FORMATS: readonly ExportFormat[] = [
  jsonlExport,
  yamlExport,
  harExport,
  agentVcrExport,
  mcporterExport,
  mcpCassetteExport,
  mcpRecExport,
  qaiExport,
  qaiResultsExport,
  shadowExport,
  nodeTestExport,
  vitestExport,
  playwrightExport,
  curlExport,
  postmanExport,
  insomniaExport,
  k6Export,
  openapiExport,
  traceExport,
  otlpExport,
]

/** The formats that can be written, with those that were added. */
export function exportFormats(): readonly ExportFormat[] {
  return [...registeredExports(), ...EXPORT_FORMATS]
}

export function exportFormat(name: string): ExportFormat {
  const found = exportFormats().find((each) => each.name === name)
  if (found !== undefined) return found
  const known = exportFormats().map((each) => each.name)
  throw new ReelayError('USAGE', `unknown format "${name}"${suggestName(name, known)}`, {
    hint: `choose one of ${known.join(', ')}`,
  })
}

/** A tape in another format, and what the format cannot hold. */
export interface WrittenExport {
  readonly text: string
  readonly lost: readonly string[]
}

export async function writeExport(format: ExportFormat, tape: ExportedTape): Promise<WrittenExport> {
  const losses = new Losses()
  const text = await format.write(tape, losses)
  return { text, lost: losses.list() }
}
