import type { Redactor } from '../redact/redactor.ts'
import type { RedactionRuleChanges } from '../redact/rule-set.ts'
import { openTape, type TapeReader } from '../store/file/read.ts'
import { filterTapeByServer } from './filter-servers.ts'
import { learnTapeSecrets } from './redact-tape.ts'
import { createTapeRedactor } from './tape-redaction.ts'

export interface TapeRedactionOptions {
  /** What is added to the rules of the project, and taken from them. */
  readonly changes?: RedactionRuleChanges
  /** These servers only: names with commas between, `*` for anything. */
  readonly server?: string | undefined
}

/** A tape, or the part of it that some servers have, and what replaces its secrets. */
export async function openTapeForRedaction(
  path: string,
  { changes, server }: TapeRedactionOptions,
): Promise<{ readonly reader: TapeReader; readonly redactor: Redactor }> {
  const whole = await openTape(path)
  const redactor = createTapeRedactor(whole.header, changes)
  if (server === undefined) return { reader: whole, redactor }
  const reader = await filterTapeByServer(whole, server)
  // What only another server's words show to be secret may stand in this one's, too.
  const elsewhere = createTapeRedactor(whole.header, changes)
  await learnTapeSecrets(whole, elsewhere)
  for (const value of elsewhere.knownSecrets) redactor.learn(value)
  return { reader, redactor }
}
