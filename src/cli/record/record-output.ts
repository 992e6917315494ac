import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import type { RecordTapeArgs } from '../options/record-options.ts'
import { clientConfigLine, reelayCommand, type ClientEntry } from '../reelay-command.ts'
import type { ErrorCode } from '../../errors.ts'
import { safeName } from '../../record/tape-header.ts'
import type { RecordingSummary } from '../../record/tape-log.ts'
import type { TapeCopyResult } from '../../share/share-tape.ts'
import { removeTapes } from '../../store/file/write.ts'
import { isTapeName, resolveTape, TAPE_EXTENSION } from '../../store/home.ts'
import { type VaultSummary, isCommittable, checkVaultPath } from '../../store/vault.ts'
import { escapeControlChars, quoteTapeArgument } from '../../text.ts'

/** The path of the tape: the given file or name, or a name with the date. */
export function recordingPath({ output, name, ifExists }: RecordTapeArgs, server: string): string {
  const path = output ?? resolveTape(name ?? datedName(server, new Date()))
  if (ifExists === 'overwrite') removeTapes(path)
  return path
}

function datedName(server: string, now: Date): string {
  return `${safeName(server)}-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`
}

export function announceRecording(
  { quiet, redact }: RecordTapeArgs,
  { path, failure, keyTrouble }: BegunRecording,
): void {
  if (failure !== undefined)
    return printTapeProblem(`not recording: ${failure}; the session goes on without a tape`)
  if (redact === false) printNotice(`WARNING: --no-redact: secrets are written to ${path} as they are`)
  else if (keyTrouble !== undefined) warnAboutKey(keyTrouble)
  if (!quiet) printNotice(`recording to ${path}`)
}

/** Prints the config with which a client starts this recorder, or connects to it. */
export function printClientConfig({ quiet }: RecordTapeArgs, server: string, entry: ClientEntry): void {
  if (!quiet) printNotice(clientConfigLine(server, entry))
}

/** Secrets are still replaced by placeholders. */
function warnAboutKey(trouble: string): void {
  const code = 'REDACTION_KEY' satisfies ErrorCode
  printNotice(`${code} this tape uses a temporary key, so live secrets will not match it: ${trouble}`)
}

interface BegunRecording {
  readonly path: string | undefined
  readonly failure: string | undefined
  readonly keyTrouble: string | undefined
}

export function printRecordingSummary(args: RecordTapeArgs, summary: RecordingSummary): void {
  printTapeSummary(args, summary)
  const { vault } = summary
  if (vault !== undefined && (!args.quiet || vault.trouble !== undefined)) printVaultSummary(vault)
}

function printTapeSummary({ quiet }: RecordTapeArgs, summary: RecordingSummary): void {
  const { path, tapes, frames, loss, secrets, withheld, stoppedAt, strayLines } = summary
  if (strayLines !== undefined && !quiet) {
    const [lines, are] = strayLines.count === 1 ? ['1 line', 'is'] : [`${strayLines.count} lines`, 'are']
    printNotice(
      `the server wrote ${lines} on stdout that ${are} not JSON-RPC, which breaks some clients: let it log to stderr; the first: ${escapeControlChars(strayLines.first ?? '')}`,
    )
  }
  if (withheld !== undefined)
    printNotice(
      `${'REDACTION_LIMIT' satisfies ErrorCode} ${withheld} ${withheld === 1 ? 'message is' : 'messages are'} withheld from the tape: searching for secrets takes too long`,
    )
  if (path === undefined) printTapeProblem(`recorded nothing: ${loss?.why}`)
  else if (loss !== undefined)
    printTapeProblem(
      loss.frames === 0
        ? `${path}: ${loss.why}`
        : `incomplete: ${loss.frames} ${loss.frames === 1 ? 'frame is' : 'frames are'} not on ${path}: ${loss.why}`,
    )
  else if (!quiet) {
    const place = tapes === 1 ? path : `${tapes} tapes, the last one ${path}`
    const stop = stoppedAt === undefined ? '' : `, up to the limit of --${stoppedAt}; the session went on`
    printNotice(
      `recorded ${frames} ${frames === 1 ? 'frame' : 'frames'} to ${place}${secretsText(secrets)}${stop}`,
    )
    printNotice(nextStep(path, tapes === 1 && stoppedAt === undefined))
  }
}

function nextStep(path: string, isWhole: boolean): string {
  const tape = quoteTapeArgument(nameOrPath(path))
  switch (isWhole ? contentOf(path) : 'responses') {
    case 'nothing':
      return 'no client has sent anything: use this command in the config of your client, in place of the server'
    case 'requests':
      return `the server answered nothing: reelay inspect ${tape} shows what happened`
    case 'responses':
      return `next, serve it without the server: reelay serve ${tape}`
  }
}

/** A tape without responses is small, so a larger one is not read. */
const MAX_EMPTY_TAPE_BYTES = 64 * 1024

function contentOf(path: string): 'nothing' | 'requests' | 'responses' {
  try {
    if (statSync(path).size > MAX_EMPTY_TAPE_BYTES) return 'responses'
    const lines = readFileSync(path, 'utf8').split('\n')
    // The end of a stream and lines on stderr have a direction too.
    const messages = lines.filter((line) => !/"event":"eof"|"dir":"s2c","stderr":/.test(line))
    if (messages.some((line) => line.includes('"dir":"s2c"'))) return 'responses'
    return messages.some((line) => line.includes('"dir":"c2s"')) ? 'requests' : 'nothing'
  } catch {
    return 'responses'
  }
}

/** The name of a tape in the tape folder, and the path of any other. */
export function nameOrPath(path: string): string {
  const name = basename(path, TAPE_EXTENSION)
  return isTapeName(name) && resolveTape(name) === path ? name : path
}

function printVaultSummary({ path, added, trouble }: VaultSummary): void {
  if (trouble !== undefined)
    printNotice(`${'VAULT_REFUSED' satisfies ErrorCode} real values are missing in ${path}: ${trouble}`)
  else printNotice(`${added} ${added === 1 ? 'value' : 'values'} added to the vault ${path}`)
}

function secretsText(secrets: number): string {
  if (secrets === 0) return ''
  return secrets === 1 ? ' (1 secret replaced)' : ` (${secrets} secrets replaced)`
}

/** Looks like an error, but the session goes on. */
export function printTapeProblem(text: string): void {
  printNotice(`${'TAPE_UNWRITABLE' satisfies ErrorCode} ${text}`)
}

export function printNotice(text: string): void {
  stderrStream().write(`reelay: ${escapeControlChars(text)}\n`)
}

/** Our stderr. If it is closed, the session must go on. */
export function stderrStream(): NodeJS.WriteStream {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return process.stderr
}

/** Longest time to wait for the last lines after the session has ended. */
const TAIL_TIMEOUT_MS = 2000

/** What is shown and sent while the session goes on, or `undefined`. */
export function recordingView({ tail, otlp }: RecordTapeArgs): TailProcess | undefined {
  const views = [...(tail ? [[]] : []), ...(otlp === undefined ? [] : [['--otlp', otlp]])]
  return views.length === 0 ? undefined : new TailProcess(views)
}

/**
 * `reelay tail` beside a recorder, with its lines on our stderr. It is a separate process, because reading the tape takes time and
 * memory that belong to the link. It ends with the tape, or with us.
 */
export class TailProcess {
  readonly #views: readonly (readonly string[])[]
  #isEnded = false
  #finished: Promise<void> = Promise.resolve()

  constructor(views: readonly (readonly string[])[]) {
    this.#views = views
  }

  /** Follows one tape after the other, in the order in which they begin. */
  readonly follow = (path: string): void => {
    const start = (): readonly Promise<void>[] =>
      this.#isEnded ? [] : this.#views.map((options) => startTail(path, options))
    this.#finished = this.#finished.then(() => Promise.all(start())).then(() => undefined)
  }

  /** Waits a moment for the last exchanges to be shown. */
  async end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => void (timer = setTimeout(resolve, TAIL_TIMEOUT_MS)))
    await Promise.race([this.#finished, limit])
    clearTimeout(timer)
    this.#isEnded = true
  }
}

function startTail(path: string, options: readonly string[]): Promise<void> {
  const [node, ...program] = reelayCommand()
  // A separate process group, so that Ctrl+C does not end it before the last exchange is shown.
  const child = spawn(node, [...program, 'tail', path, ...options], {
    stdio: ['ignore', 2, 2, 'ipc'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  unrefChild(child)
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve()) // then nothing is shown, which must not harm the recording
  })
}

/** The channel ends with this process, and must not keep it alive. */
function unrefChild(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

/** Warns about the vault, if there is one. Rejects one that other users could read, before anything is started. */
export function warnAboutVault({
  output,
  name,
  redact,
}: Pick<RecordTapeArgs, 'output' | 'name' | 'redact'>): void {
  if (redact !== false && redact.vault !== undefined)
    printVaultWarning(checkVaultPath(redact.vault, output ?? resolveTape(name ?? 'unnamed')))
}

/** Warns about the vault of a copy. */
export function warnAboutCopyVault({ vault }: TapeCopyResult): void {
  if (vault === undefined) return
  printVaultWarning(vault.path)
  printVaultSummary(vault)
}

function printVaultWarning(path: string): void {
  printNotice(`WARNING: --vault: the real values of secrets are written to ${path}; keep it to yourself`)
  if (isCommittable(path))
    printNotice(
      `WARNING: ${path} is in a git work tree that does not ignore it: add it to .gitignore, or choose another path`,
    )
}
