import type { TapeSummary } from '../store/file/list.ts'
import { jsonDocument, jsonObject, jsonValue } from './json-text.ts'

/** The tapes of a folder for programs, as `docs/inspect.md` describes it. */
export function listAsJson(folder: string, tapes: readonly TapeSummary[]): string {
  return jsonDocument({ folder: jsonValue(folder), tapes: tapes.map(tapeJson) })
}

function tapeJson(tape: TapeSummary): string {
  const file = { name: jsonValue(tape.name), path: jsonValue(tape.path), bytes: jsonValue(tape.bytes) }
  if (tape.kind === 'problem') return jsonObject({ ...file, problem: jsonValue(tape.problem) })
  return jsonObject({
    ...file,
    recordedAt: jsonValue(tape.started),
    servers: jsonValue(tape.servers),
    session: jsonValue(tape.labels.session ?? null),
    endpoint: jsonValue(tape.labels.endpoint ?? null),
    agent: jsonValue(tape.labels.agent ?? null),
    note: jsonValue(tape.labels.note ?? null),
    tags: jsonValue(tape.labels.tags),
    ended: jsonValue(tape.ended),
  })
}
