import { isSeenBy } from '../tape/frame.ts'
import { renameSync, rmSync } from 'node:fs'
import { errorMessage, ReelayError } from '../errors.ts'
import { member, parseJson } from '../json/parse.ts'
import type { Redactor } from '../redact/redactor.ts'
import { missCount } from '../serve/drift.ts'
import { SessionPlayer } from '../serve/player/session-player.ts'
import { sessionPlayerOptions } from '../serve/serve-options.ts'
import { countLeakedSecrets } from './find-secrets.ts'
import {
  openTapeForRedaction,
  type TapeRedactionOptions,
  writeRedactedTape,
  type TapeRedactionSummary,
} from './redact-tape.ts'
import { type TapeReader, openTape, loadTape } from '../store/file/read.ts'
import { type TapeWriter, createTape } from '../store/file/write.ts'
import { Vault, type VaultSummary } from '../store/vault.ts'

interface TapeCopyOptions extends TapeRedactionOptions {
  readonly from: string
  readonly to: string
  /** File to which the real values behind the copy's placeholders are written. */
  readonly vault?: string | undefined
}

/** Path of the copy, and what was replaced in it. */
export interface TapeCopyResult extends TapeRedactionSummary {
  readonly path: string
  readonly answered?: number
  readonly vault?: VaultSummary
}

/** Writes a copy of a tape without its secrets. */
export async function copyTapeRedacted(options: TapeCopyOptions): Promise<TapeCopyResult> {
  const vault = vaultForCopy(options)
  const { draft, facts, redactor } = await writeDraft(options)
  return { ...facts, path: publishDraft(draft, options.to), ...storeInVault(vault, redactor) }
}

/**
 * Writes a copy that is safe to share, or nothing. The copy must answer its own client exactly as the original does, and
 * must not contain any replaced secret in any encoding.
 */
export async function shareTape(options: TapeCopyOptions): Promise<TapeCopyResult> {
  const vault = vaultForCopy(options)
  const { draft, facts, redactor } = await writeDraft(options)
  try {
    await requireNoLeaks(draft, redactor)
    const answered = await requireSameAnswers(options.from, draft, redactor)
    return { ...facts, path: publishDraft(draft, options.to), answered, ...storeInVault(vault, redactor) }
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Fails before anything is written. */
function vaultForCopy({ vault, to }: TapeCopyOptions): Vault | undefined {
  return vault === undefined ? undefined : new Vault(vault, { tape: to })
}

function storeInVault(vault: Vault | undefined, { replacedValues }: Redactor): Pick<TapeCopyResult, 'vault'> {
  vault?.save(replacedValues)
  return vault ? { vault: vault.close() } : {}
}

async function writeDraft({
  from,
  to,
  ...options
}: TapeCopyOptions): Promise<{ draft: string; facts: TapeRedactionSummary; redactor: Redactor }> {
  const opened = await openTapeForRedaction(from, options)
  const { reader, redactor } = opened
  const writer = openDraft(to)
  try {
    const facts = await writeRedactedTape(opened, (line) => writer.line(line))
    closeDraft(writer, reader)
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
    throw unwritableError(to, error)
  }
}

function closeDraft(writer: TapeWriter, { state, path }: TapeReader): void {
  writer.close()
  if (writer.loss !== undefined) throw unwritableError(writer.path, new Error(writer.loss.why))
  const [problem] = state.problems
  if (problem === undefined) return
  throw new ReelayError('TAPE_BROKEN', `${path}, line ${problem.line}: ${problem.why}`, {
    hint: 'an unreadable line may contain a secret; remove it first',
  })
}

function publishDraft(draft: string, to: string): string {
  try {
    const claimed = createTape(to) // claims a free file name, so that an existing file is never overwritten
    claimed.close()
    renameSync(draft, claimed.path)
    return claimed.path
  } catch (error) {
    rmSync(draft, { force: true })
    throw unwritableError(to, error)
  }
}

async function requireNoLeaks(draft: string, redactor: Redactor): Promise<void> {
  const leaks = await countLeakedSecrets(draft, redactor.replacedValues)
  if (leaks === 0) return
  throw new ReelayError(
    'SHARE_REFUSED',
    `${leaks} of ${redactor.replacedCount} secrets would still be in the copy`,
    {
      hint: 'a secret may be part of something the protocol needs, such as a tool name: rename it and record again',
    },
  )
}

async function requireSameAnswers(from: string, draft: string, redactor: Redactor): Promise<number> {
  const after = await selfReplay(draft)
  const before = await selfReplay(from, after.servers)
  if (hasSameAnswers(before, after, redactor)) return after.answered
  const found = `${after.answered} requests answered and ${after.misses} misses, while the original has ${before.answered} and ${before.misses}`
  throw new ReelayError('SHARE_REFUSED', `the copy does not answer like the original: ${found}`, {
    hint: 'something that the protocol needs was redacted as a secret: keep it with --allow',
  })
}

function hasSameAnswers(before: SelfReplayResult, after: SelfReplayResult, redactor: Redactor): boolean {
  if (before.answered !== after.answered || before.misses !== after.misses) return false
  return (
    before.serverMessages.length === after.serverMessages.length &&
    before.serverMessages.every((text, at) => redactor.text(text) === after.serverMessages[at])
  )
}

function unwritableError(path: string, error: unknown): ReelayError {
  const why = errorMessage(error)
  return new ReelayError('TAPE_UNWRITABLE', `${path} cannot be written: ${why}`, { cause: error })
}

/** The responses of a tape to its own recorded client messages. */
export interface SelfReplayResult {
  readonly servers: readonly string[]
  readonly answered: number
  readonly misses: number
  /** Everything the recorded servers sent, server by server. Misses are counted, not listed. */
  readonly serverMessages: readonly string[]
}

/** Serves a tape, or the part of some servers, to its own recorded client: sends each client message again, in order. */
export async function selfReplay(path: string, only?: readonly string[]): Promise<SelfReplayResult> {
  const tape = await loadTape(path)
  const servers = only ?? Object.keys(tape.header.servers)
  const serverMessages: string[] = []
  const totals = { answered: 0, misses: 0 }
  for (const server of servers) {
    const player = new SessionPlayer({
      ...sessionPlayerOptions({ tape, server }, () => ''),
      send: (text) => void (isMissResponse(text) || serverMessages.push(text)),
    })
    player.start()
    for (const text of await clientMessagesTo(path, server)) player.handleText(text)
    const drift = player.drift()
    totals.answered += drift.answered
    totals.misses += missCount(drift)
  }
  return { servers, ...totals, serverMessages }
}

/** Recognises a miss, whose text names the served file and therefore differs between a tape and its copy. */
function isMissResponse(text: string): boolean {
  return member(member(member(parseJson(text), 'error'), 'data'), 'kind') === 'replay_miss'
}

async function clientMessagesTo(path: string, server: string): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const frame of (await openTape(path)).frames())
    if (
      frame.kind === 'message' &&
      frame.dir === 'c2s' &&
      frame.server === server &&
      isSeenBy(frame, 'client')
    )
      texts.push(frame.text)
  return texts
}
