import { renameSync, rmSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { TapeWriter } from '../store/append.ts'
import { createTape } from '../store/create.ts'
import type { TapeReader } from '../store/read.ts'
import { Vault, type VaultSummary } from '../store/vault.ts'
import { countLeaks } from './leaks.ts'
import { openForRedaction, type RedactionWishes } from './open-for-redaction.ts'
import { redactTape, type RedactionFacts } from './redacted-tape.ts'
import { selfReplay, type SelfReplay } from './self-replay.ts'

export interface CopyOptions extends RedactionWishes {
  readonly from: string
  readonly to: string
  /** A file that is given the values which the copy has stand-ins for. */
  readonly vault?: string | undefined
}

/** Where the copy is, and what was replaced in it. */
export interface Copied extends RedactionFacts {
  readonly path: string
  readonly answered?: number
  readonly vault?: VaultSummary
}

/** Writes a copy of a tape without its secrets. */
export async function redactCopy(options: CopyOptions): Promise<Copied> {
  const vault = vaultOf(options)
  const { draft, facts, redactor } = await draftOf(options)
  return { ...facts, path: publish(draft, options.to), ...keptIn(vault, redactor) }
}

/**
 * Writes a copy that can be given away, or nothing: the copy must answer its own client exactly as the tape does, and no secret
 * that was replaced may be left in it, in any spelling.
 */
export async function shareTape(options: CopyOptions): Promise<Copied> {
  const vault = vaultOf(options)
  const { draft, facts, redactor } = await draftOf(options)
  try {
    await demandNoLeaks(draft, redactor)
    const answered = await demandSameAnswers(options.from, draft, redactor)
    return { ...facts, path: publish(draft, options.to), answered, ...keptIn(vault, redactor) }
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Refused before anything is written. */
function vaultOf({ vault, to }: CopyOptions): Vault | undefined {
  return vault === undefined ? undefined : new Vault(vault, { tape: to })
}

function keptIn(vault: Vault | undefined, { replaced }: Redactor): Pick<Copied, 'vault'> {
  vault?.keep(replaced)
  return vault ? { vault: vault.close() } : {}
}

async function draftOf({
  from,
  to,
  ...wishes
}: CopyOptions): Promise<{ draft: string; facts: RedactionFacts; redactor: Redactor }> {
  const { reader, redactor } = await openForRedaction(from, wishes)
  const writer = openDraft(to)
  try {
    const facts = await redactTape(reader, redactor, (line) => writer.line(line))
    close(writer, reader)
    return { draft: writer.path, facts, redactor }
  } catch (error) {
    writer.close()
    rmSync(writer.path, { force: true })
    throw error
  }
}

function openDraft(to: string): TapeWriter {
  try {
    return createTape(`${to}.draft`)
  } catch (error) {
    throw unwritable(to, error)
  }
}

function close(writer: TapeWriter, { state, path }: TapeReader): void {
  writer.close()
  if (writer.loss !== undefined) throw unwritable(writer.path, new Error(writer.loss.why))
  const [problem] = state.problems
  if (problem === undefined) return
  throw new ReelayError('TAPE_BROKEN', `${path}, line ${problem.line}: ${problem.why}`, {
    hint: 'nobody can say whether a line that cannot be read holds a secret; remove it first',
  })
}

function publish(draft: string, to: string): string {
  try {
    const { path, close: done } = freshTape(to)
    done()
    renameSync(draft, path)
    return path
  } catch (error) {
    rmSync(draft, { force: true })
    throw unwritable(to, error)
  }
}

/** Takes the name first: a file that is there already is never written over. */
function freshTape(to: string): { readonly path: string; readonly close: () => void } {
  const writer = createTape(to)
  return { path: writer.path, close: () => writer.close() }
}

async function demandNoLeaks(draft: string, redactor: Redactor): Promise<void> {
  const leaks = await countLeaks(draft, redactor.replaced)
  if (leaks === 0) return
  throw new ReelayError('SHARE_REFUSED', `${leaks} of ${redactor.count} secrets would still be in the copy`, {
    hint: 'a secret may stand where the protocol needs it, such as in the name of a tool: rename it there and record again',
  })
}

async function demandSameAnswers(from: string, draft: string, redactor: Redactor): Promise<number> {
  const after = await selfReplay(draft)
  const before = await selfReplay(from, after.servers)
  if (isSame(before, after, redactor)) return after.answered
  const found = `${after.answered} requests answered and ${after.misses} misses, where the tape itself has ${before.answered} and ${before.misses}`
  throw new ReelayError('SHARE_REFUSED', `the copy does not answer as the tape does: ${found}`, {
    hint: 'something that the protocol needs was taken for a secret: allow it in the redaction section of reelay.config.yaml',
  })
}

function isSame(before: SelfReplay, after: SelfReplay, redactor: Redactor): boolean {
  if (before.answered !== after.answered || before.misses !== after.misses) return false
  return (
    before.said.length === after.said.length &&
    before.said.every((text, at) => redactor.json(text) === after.said[at])
  )
}

function unwritable(path: string, error: unknown): ReelayError {
  const why = error instanceof Error ? error.message : String(error)
  return new ReelayError('TAPE_UNWRITABLE', `${path} cannot be written: ${why}`, { cause: error })
}
