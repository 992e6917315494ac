import { ReelayError } from '../errors.ts'
import type { Tape } from '../store/read.ts'

/** Which of the tape's servers to be. It is never guessed: one server's answer to another's request would be a wrong one. */
export function whichServer(
  { header, path }: Pick<Tape, 'header' | 'path'>,
  wanted: string | undefined,
): string {
  const names = Object.keys(header.servers)
  const [only = ''] = names
  if (wanted === undefined && names.length < 2) return only
  if (wanted !== undefined && names.includes(wanted)) return wanted
  const problem =
    wanted === undefined ? `${path} holds ${names.length} servers` : `${path} holds no server "${wanted}"`
  throw new ReelayError('USAGE', problem, { hint: `choose one with --server: ${names.join(', ')}` })
}
