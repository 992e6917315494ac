import { inspect, styleText } from 'node:util'
import { ReelayError } from '../../errors.ts'
import { escapeControlChars } from '../../text.ts'
import { createOutputRedactor } from './redact-output.ts'

/** Prints an error with its hint and sets the exit code. Only REELAY_DEBUG shows a stack trace. */
export function reportError(thrown: unknown): void {
  const error = asReelayError(thrown)
  const label = styleText('red', `reelay: ${error.code}`, { stream: process.stderr })
  const shown = createOutputRedactor()
  process.stderr.write(`${label} ${escapeControlChars(shown(error.message))}\n`)
  if (error.hint !== undefined) process.stderr.write(`  hint: ${escapeControlChars(shown(error.hint))}\n`)
  if (process.env['REELAY_DEBUG'] !== undefined) process.stderr.write(`${shown(inspect(thrown))}\n`)
  process.exitCode = error.exitCode
}

function asReelayError(thrown: unknown): ReelayError {
  if (thrown instanceof ReelayError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const hint = 'set REELAY_DEBUG=1 to see where it happened, and please report it'
  return new ReelayError('UNEXPECTED', message, { hint, cause: thrown })
}
