import { canonicalJson } from '../../json/canonical.ts'
import { hashText } from '../../json/hash.ts'
import { parseJson, type JsonObject } from '../../json/parse.ts'
import { encodeFrame } from '../../tape/codec.ts'
import type { Frame } from '../../tape/frame.ts'
import { encodeHeader } from '../../tape/header.ts'
import type { ExportFormat } from './export-format.ts'

/**
 * A form for people: messages are YAML, one member per line. Each has a checksum, by which `reelay import` finds those that were
 * edited. The spelling of a message is kept beside it if it cannot be told from its value. Nothing is lost.
 */
export const yamlExport: ExportFormat = {
  name: 'yaml',
  description: 'YAML to read, edit and compare; reelay import turns it back into a tape',
  extension: '.yaml',
  write: async ({ header, frames }) => {
    const { Document } = await import('yaml')
    const document = new Document(
      { reelayYaml: 1, header: parseJson(encodeHeader(header)), frames: frames.map(frameToYaml) },
      { aliasDuplicateObjects: false },
    )
    document.commentBefore = COMMENT
    return document.toString({ lineWidth: 0, flowCollectionPadding: true })
  },
}

const COMMENT = ` A Reelay tape in a form for people. Edit the messages, then turn it back: reelay import <this file>
 Times are milliseconds since the start. Leave "sum" as it is: it shows which messages were edited.`

function frameToYaml(frame: Frame): JsonObject {
  if (frame.kind !== 'message') return { line: parseJson(encodeFrame(frame)) }
  const { kind: _, message: __, n, t, text, dir, ...rest } = frame
  const value = parseJson(text)
  const isPlain = JSON.stringify(value) === text
  return {
    n,
    t,
    from: dir === 'c2s' ? 'client' : 'server',
    ...rest,
    message: value,
    sum: messageSum(value),
    ...(!isPlain && { spelling: text }),
  }
}

/** A checksum of the value of a message. */
export function messageSum(value: unknown): string {
  const { high, low } = hashText(canonicalJson(value))
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0')
}
