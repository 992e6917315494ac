import type { EntryLink } from '../configs/config-format.ts'

/** The program that a wrapped entry starts: Node by its path, and Reelay by its path. */
export interface RecorderProgram {
  readonly node: string
  readonly program: string
}

/** What a wrapped entry says, read back from its words. */
export interface WrappedCommand {
  /** What is started instead of the server, up to `record`. */
  readonly recorderCommand: readonly string[]
  readonly tape: string | undefined
  /** Which of the args is the command of the server; undefined when a bridge stands for a url. */
  readonly commandIndex: number | undefined
}

/** The args that stand before the command of the server. */
export function recorderArgs(recorder: RecorderProgram, server: string, tape: string): readonly string[] {
  return [recorder.program, 'record', '--server', server, tape, '--']
}

/** Reads an entry that starts a recorder, whoever wrote it; undefined when it starts something else. */
export function parseWrappedCommand(link: EntryLink): WrappedCommand | undefined {
  if (link.kind !== 'command') return undefined
  const words = [link.command, ...(link.args?.items ?? [])].map(({ value }) => value ?? '')
  const verb = words.indexOf('record')
  if (verb < 1 || !RECORDER_PATTERN.test(words[verb - 1] ?? '')) return undefined
  const recorderCommand = words.slice(0, verb)
  const dashes = words.indexOf('--', verb)
  const options = words.slice(verb + 1, dashes < 0 ? undefined : dashes)
  if (options.includes('--bridge'))
    return { recorderCommand, tape: tapeNameIn(options), commandIndex: undefined }
  if (dashes < 0 || dashes + 1 >= words.length) return undefined
  return { recorderCommand, tape: tapeNameIn(options), commandIndex: dashes }
}

// The program of an installed package, or the word `reelay` as npx, a PATH or a person would have it.
const RECORDER_PATTERN = /[\\/]cli[\\/]main\.js$|(^|[\\/])reelay(@[^\\/]*)?(\.cmd|\.exe)?$/

/** The name stands last before `--`, unless that word is an option or the value of one. */
function tapeNameIn(options: readonly string[]): string | undefined {
  const [before, last] = [options.at(-2) ?? '', options.at(-1)]
  const takesLast = before.startsWith('-') && !FLAGS_WITHOUT_VALUE.has(before) && !before.includes('=')
  return takesLast || last?.startsWith('-') ? undefined : last
}

const FLAGS_WITHOUT_VALUE = new Set(['-q', '--quiet', '--rotate', '--tail', '--bridge'])
