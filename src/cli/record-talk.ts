import type { ErrorCode } from '../errors.ts'
import type { Summary } from '../record/recording-summary.ts'
import type { VaultSummary } from '../store/vault.ts'
import { safeName } from '../record/server-name.ts'
import { resolveTape } from '../store/home.ts'
import { visible } from '../wire/visible.ts'
import type { TapeArgs } from './tape-args.ts'

/** Where the tape goes: to the file or the name that was given, else to a dated name. */
export function tapePath({ output, name }: TapeArgs, server: string): string {
  return output ?? resolveTape(name ?? datedName(server, new Date()))
}

function datedName(server: string, now: Date): string {
  return `${safeName(server)}-${now.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')}`
}

export function announce({ quiet, redact }: TapeArgs, { path, failure, keyTrouble }: Begun): void {
  if (failure !== undefined) return complain(`not recording: ${failure}; the session goes on without a tape`)
  if (redact === false) say(`WARNING: --no-redact: secrets are written to ${path} as they are`)
  else if (keyTrouble !== undefined) complainOfKey(keyTrouble)
  if (!quiet) say(`recording to ${path}`)
}

/** Secrets have stand-ins all the same. */
function complainOfKey(trouble: string): void {
  const code = 'REDACTION_KEY' satisfies ErrorCode
  say(
    `${code} this tape gets a key of its own, which is forgotten, so live secrets will not match it: ${trouble}`,
  )
}

interface Begun {
  readonly path: string | undefined
  readonly failure: string | undefined
  readonly keyTrouble: string | undefined
}

export function sumUp(args: TapeArgs, summary: Summary): void {
  sumUpTape(args, summary)
  const { vault } = summary
  if (vault !== undefined && (!args.quiet || vault.trouble !== undefined)) sumUpVault(vault)
}

function sumUpTape({ quiet }: TapeArgs, summary: Summary): void {
  const { path, tapes, frames, loss, secrets, stoppedAt } = summary
  if (path === undefined) complain(`recorded nothing: ${loss?.why}`)
  else if (loss !== undefined) complain(`incomplete: ${loss.frames} frames are not on ${path}: ${loss.why}`)
  else if (!quiet) {
    const place = tapes === 1 ? path : `${tapes} tapes, the last one ${path}`
    const stop = stoppedAt === undefined ? '' : `, up to the limit of --${stoppedAt}; the session went on`
    say(`recorded ${frames} ${frames === 1 ? 'frame' : 'frames'} to ${place}${countOf(secrets)}${stop}`)
  }
}

export function sumUpVault({ path, added, trouble }: VaultSummary): void {
  if (trouble !== undefined)
    say(`${'VAULT_REFUSED' satisfies ErrorCode} real values are missing in ${path}: ${trouble}`)
  else say(`${added} ${added === 1 ? 'value' : 'values'} added to the vault ${path}`)
}

function countOf(secrets: number): string {
  if (secrets === 0) return ''
  return secrets === 1 ? ' (1 secret replaced)' : ` (${secrets} secrets replaced)`
}

/** In the words of `errors.ts`, but no error: the session goes on. */
export function complain(text: string): void {
  say(`${'TAPE_UNWRITABLE' satisfies ErrorCode} ${text}`)
}

export function say(text: string): void {
  errors().write(`reelay: ${visible(text)}\n`)
}

/** Our stderr; that nobody reads it must not end the session. */
export function errors(): NodeJS.WriteStream {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {})
  return process.stderr
}
