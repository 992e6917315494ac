import {
  configRangeOf,
  type ConfigEdit,
  type EntryLink,
  type ConfigFormat,
  type ConfigEntry,
  type ConfigToken,
} from '../configs/config-format.ts'

/** The program that a wrapped entry starts: Node and Reelay, both by path. */
export interface RecorderProgram {
  /** The file to start: Node, or the single-file binary of Reelay. */
  readonly node: string
  /** The script that Node runs. The single-file binary has none. */
  readonly program: string | undefined
}

/** The words that follow `command` in a config: the script, if there is one, and the arguments. */
export function recorderArgs({ program }: RecorderProgram, args: readonly string[]): readonly string[] {
  return program === undefined ? args : [program, ...args]
}

/** The parsed command of a wrapped entry. */
export interface WrappedCommand {
  /** The command before `record`. */
  readonly recorderCommand: readonly string[]
  readonly tape: string | undefined
  /** Index of the server command among the arguments, or `undefined` if the entry starts a bridge. */
  readonly commandIndex: number | undefined
}

/** Parses an entry that starts a recorder, also one that a user wrote. Returns `undefined` for any other entry. */
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

// The program of an installed package, or `reelay` as npx, the PATH or a person would write it.
const RECORDER_PATTERN = /[\\/]cli[\\/]main\.js$|(^|[\\/])reelay(@[^\\/]*)?(\.cmd|\.exe)?$/

/** The tape name is the last word before `--`, unless that word is an option or its value. */
function tapeNameIn(options: readonly string[]): string | undefined {
  const [before, last] = [options.at(-2) ?? '', options.at(-1)]
  const takesLast = before.startsWith('-') && !FLAGS_WITHOUT_VALUE.has(before) && !before.includes('=')
  return takesLast || last?.startsWith('-') ? undefined : last
}

const FLAGS_WITHOUT_VALUE = new Set([
  '-q',
  '--quiet',
  '--rotate',
  '--tail',
  '--bridge',
  '--numbered',
  '--overwrite',
])

/** A reversible change to an entry: the original start of a member or entry, and its replacement. */
export interface ReversibleEdit {
  readonly at: 'command' | 'args' | 'entry'
  readonly was: string
  readonly now: string
}

type CommandEntryLink = Extract<EntryLink, { kind: 'command' }>

interface CommandWrapRequest {
  readonly text: string
  readonly link: CommandEntryLink
  readonly format: ConfigFormat
  readonly recorder: RecorderProgram
  readonly server: string
  readonly tape: string
}

/** Creates the edits that put the recorder before the server. The old command and arguments are copied unchanged. */
export function wrapCommandEdits({
  text,
  link,
  format,
  recorder,
  server,
  tape,
}: CommandWrapRequest): readonly ReversibleEdit[] {
  const command = text.slice(link.command.start, link.command.end)
  const before = recorderArgs(recorder, ['record', '--numbered', '--server', server, tape, '--'])
  const words = [...before.map(format.quote), command].join(', ')
  const node = format.quote(recorder.node)
  if (link.args === undefined)
    return [{ at: 'command', was: command, now: `${node}${link.beforeNewArgs}[${words}]` }]
  const list = text.slice(link.args.start, link.args.end)
  return [{ at: 'command', was: command, now: node }, argListEdit(list, words, link.args.items)]
}

/** Changes only the start of the list, so that arguments which the user adds later are kept. */
function argListEdit(list: string, words: string, items: readonly ConfigToken[]): ReversibleEdit {
  if (items.length === 0) return { at: 'args', was: list, now: `[${words}${list.slice(1)}` }
  const space = /^\[\s/.test(list) ? '' : ' '
  return { at: 'args', was: '[', now: `[${words},${space}` }
}

/** Finds edits in the text. Returns `undefined` if the text has changed since they were written. */
export function locateReversibleEdits(
  pieces: readonly ReversibleEdit[],
  { text, entry, direction }: { text: string; entry: ConfigEntry; direction: 'wrap' | 'unwrap' },
): readonly ConfigEdit[] | undefined {
  const edits = pieces.map(({ at, was, now }) => {
    const start = editStart(entry, at)
    const [before, after] = direction === 'wrap' ? [was, now] : [now, was]
    return { start, end: start + before.length, text: after, isThere: text.startsWith(before, start) }
  })
  return edits.every(({ start, isThere }) => start >= 0 && isThere) ? edits : undefined
}

function editStart({ link, span }: ConfigEntry, at: ReversibleEdit['at']): number {
  if (at === 'entry') return span?.start ?? -1
  return link.kind === 'command' ? (link[at]?.start ?? -1) : -1
}

/**
 * Removes the recorder by parsing the command, if the original text is not known. Returns `undefined` if there is no
 * recorder.
 */
export function inferUnwrapEdits(text: string, link: CommandEntryLink): readonly ConfigEdit[] | undefined {
  const wrapped = parseWrappedCommand(link)
  const items = link.args?.items ?? []
  const at = wrapped?.commandIndex
  const command = at === undefined ? undefined : items[at]
  if (at === undefined || command === undefined || link.args === undefined) return undefined
  const next = items[at + 1]
  const first = items[0]?.start ?? link.args.start + 1
  return [
    { ...configRangeOf(link.command), text: text.slice(command.start, command.end) },
    next === undefined
      ? { start: link.args.start, end: link.args.end, text: '[]' }
      : { start: first, end: next.start, text: '' },
  ]
}
