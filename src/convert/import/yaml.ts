import { isObject, member, type JsonObject } from '../../json/parse.ts'
import { decodeFrame } from '../../tape/codec.ts'
import { decodeHeader, pickLabels } from '../../tape/header.ts'
import { messageSum } from '../export/yaml.ts'
import type { ImportedFrame, ImportedRecording, ImportFormat } from './import-format.ts'
import type { ImportSource } from './import-source.ts'

/** The YAML of `reelay export --format yaml`, edited or not. */
export const yamlFormat: ImportFormat = {
  name: 'yaml',
  description: 'YAML of reelay export, also edited',
  reject: ({ yaml }) =>
    member(yaml, 'reelayYaml') === undefined ? 'no YAML with "reelayYaml" at the top' : undefined,
  read: ({ yaml }: ImportSource): ImportedRecording => {
    const header = decodeHeader(JSON.stringify(member(yaml, 'header') ?? {}))
    const started = Date.parse(header.started)
    const items = member(yaml, 'frames')
    const edited: number[] = []
    const frames = (Array.isArray(items) ? items : []).filter(isObject).flatMap((item, index) => {
      const frame = 'line' in item ? lineFrame(item['line'], started) : messageFrame(item, started)
      if (frame?.kind === 'message' && isEdited(item)) edited.push(index + 1)
      return frame === undefined ? [] : [frame]
    })
    const tags = edited.length === 0 ? header.tags : { ...header.tags, edited: `frames ${edited.join(', ')}` }
    return {
      frames,
      servers: header.servers,
      labels: { ...pickLabels(header), tags },
      started,
      notes:
        edited.length === 0 ? [] : [`${edited.length} messages were edited: frames ${edited.join(', ')}`],
    }
  },
}

function lineFrame(line: unknown, started: number): ImportedFrame | undefined {
  const frame = decodeFrame(JSON.stringify(line))
  if (frame.kind === 'broken' || frame.kind === 'other') return undefined
  const { n: _, t, ...rest } = frame
  return { ...rest, at: started + t }
}

function messageFrame(item: JsonObject, started: number): ImportedFrame | undefined {
  const { from, message, t, sum: _, spelling, n: __, ...place } = item
  const isKept = !isEdited(item) && typeof spelling === 'string'
  const line = JSON.stringify({ n: 1, t: 0, ...place, dir: from === 'server' ? 's2c' : 'c2s', msg: {} })
  const frame = decodeFrame(line)
  if (frame.kind !== 'message' || message === undefined) return undefined
  const { n: ___, t: ____, message: _____, ...rest } = frame
  const text = isKept ? spelling : JSON.stringify(message)
  return { ...rest, text, at: started + (typeof t === 'number' ? t : 0) }
}

/** A message that was added has no checksum. */
function isEdited({ message, sum }: JsonObject): boolean {
  return sum !== messageSum(message)
}
