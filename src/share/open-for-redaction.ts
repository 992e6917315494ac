import type { Redactor } from '../redact/redactor.ts'
import type { RuleChanges } from '../redact/rule-set.ts'
import { openTape, type TapeReader } from '../store/read.ts'
import { partOfTape } from './part-of-tape.ts'
import { learn } from './redacted-tape.ts'
import { tapeRedaction } from './tape-redaction.ts'

export interface RedactionWishes {
  /** What is added to the rules of the project, and taken from them. */
  readonly changes?: RuleChanges
  /** These servers only: names with commas between, `*` for anything. */
  readonly server?: string | undefined
}

/** A tape, or the part of it that some servers have, and what replaces its secrets. */
export async function openForRedaction(
  path: string,
  { changes, server }: RedactionWishes,
): Promise<{ readonly reader: TapeReader; readonly redactor: Redactor }> {
  const whole = await openTape(path)
  const redactor = tapeRedaction(whole.header, changes)
  if (server === undefined) return { reader: whole, redactor }
  const reader = await partOfTape(whole, server)
  // What only another server's words show to be secret may stand in this one's, too.
  const elsewhere = tapeRedaction(whole.header, changes)
  await learn(whole, elsewhere)
  for (const value of elsewhere.known) redactor.learn(value)
  return { reader, redactor }
}
