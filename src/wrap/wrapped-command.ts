import type { Link } from './config-format.ts'

/** The program that a wrapped entry starts: Node by its path, and Reelay by its path. */
export interface Recorder {
  readonly node: string
  readonly program: string
}

/** What a wrapped entry says, read back from its words. */
export interface WrappedCommand {
  /** What is started instead of the server, up to `record`. */
  readonly starter: readonly string[]
  readonly tape: string | undefined
  /** Which of the args is the command of the server; undefined when a bridge stands for a url. */
  readonly commandAt: number | undefined
}

/** The args that stand before the command of the server. */
export function recorderArgs(recorder: Recorder, server: string, tape: string): readonly string[] {
  return [recorder.program, 'record', '--server', server, tape, '--']
}

/** Reads an entry that starts a recorder, whoever wrote it; undefined when it starts something else. */
export function wrappedCommand(link: Link): WrappedCommand | undefined {
  if (link.kind !== 'command') return undefined
  const words = [link.command, ...(link.args?.items ?? [])].map(({ value }) => value ?? '')
  const verb = words.indexOf('record')
  if (verb < 1 || !RECORDER.test(words[verb - 1] ?? '')) return undefined
  const starter = words.slice(0, verb)
  const dashes = words.indexOf('--', verb)
  const options = words.slice(verb + 1, dashes < 0 ? undefined : dashes)
  if (options.includes('--bridge')) return { starter, tape: tapeIn(options), commandAt: undefined }
  if (dashes < 0 || dashes + 1 >= words.length) return undefined
  return { starter, tape: tapeIn(options), commandAt: dashes }
}

// The program of an installed package, or the word `reelay` as npx, a PATH or a person would have it.
const RECORDER = /[\\/]cli[\\/]main\.js$|(^|[\\/])reelay(@[^\\/]*)?(\.cmd|\.exe)?$/

/** The name stands last before `--`, unless that word is an option or the value of one. */
function tapeIn(options: readonly string[]): string | undefined {
  const [before, last] = [options.at(-2) ?? '', options.at(-1)]
  const takesLast = before.startsWith('-') && !NO_VALUE.has(before) && !before.includes('=')
  return takesLast || last?.startsWith('-') ? undefined : last
}

const NO_VALUE = new Set(['-q', '--quiet', '--rotate', '--tail', '--bridge'])
