import type { TapeSummary } from '../store/list.ts'
import { jsonDocument, object, plain } from './json-text.ts'

/** The tapes of a folder for programs, as `docs/inspect.md` describes it. */
export function listAsJson(folder: string, tapes: readonly TapeSummary[]): string {
  return jsonDocument({ folder: plain(folder), tapes: tapes.map(tapeJson) })
}

function tapeJson(tape: TapeSummary): string {
  const file = { name: plain(tape.name), path: plain(tape.path), bytes: plain(tape.bytes) }
  if (tape.kind === 'problem') return object({ ...file, problem: plain(tape.problem) })
  return object({
    ...file,
    recordedAt: plain(tape.started),
    servers: plain(tape.servers),
    session: plain(tape.labels.session ?? null),
    endpoint: plain(tape.labels.endpoint ?? null),
    agent: plain(tape.labels.agent ?? null),
    note: plain(tape.labels.note ?? null),
    tags: plain(tape.labels.tags),
    ended: plain(tape.ended),
  })
}
