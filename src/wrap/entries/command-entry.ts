import type { ConfigEdit } from '../configs/config-edits.ts'
import type { EntryLink, ConfigFormat, ConfigEntry, ConfigToken } from '../configs/config-format.ts'

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
function recorderArgs(recorder: RecorderProgram, server: string, tape: string): readonly string[] {
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

/** A change of an entry that can be taken back: what stood at the beginning of a member, or of the entry, and what stands there now. */
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

/** The changes that put the recorder before the server. The old command and its args are carried on as they are spelled. */
export function wrapCommandEdits({
  text,
  link,
  format,
  recorder,
  server,
  tape,
}: CommandWrapRequest): readonly ReversibleEdit[] {
  const command = text.slice(link.command.start, link.command.end)
  const words = [...recorderArgs(recorder, server, tape).map(format.quote), command].join(', ')
  const node = format.quote(recorder.node)
  if (link.args === undefined)
    return [{ at: 'command', was: command, now: `${node}${link.beforeNewArgs}[${words}]` }]
  const list = text.slice(link.args.start, link.args.end)
  return [{ at: 'command', was: command, now: node }, argListEdit(list, words, link.args.items)]
}

/** Only the beginning of a list changes, so that an argument which the user adds later stays. */
function argListEdit(list: string, words: string, items: readonly ConfigToken[]): ReversibleEdit {
  if (items.length === 0) return { at: 'args', was: list, now: `[${words}${list.slice(1)}` }
  const space = /^\[\s/.test(list) ? '' : ' '
  return { at: 'args', was: '[', now: `[${words},${space}` }
}

/** Where pieces stand in the text; undefined when it is no longer what was written there. */
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

/** Takes the recorder out by what the words mean, when the exact pieces are not known; undefined when there is none. */
export function inferUnwrapEdits(text: string, link: CommandEntryLink): readonly ConfigEdit[] | undefined {
  const wrapped = parseWrappedCommand(link)
  const items = link.args?.items ?? []
  const at = wrapped?.commandIndex
  const command = at === undefined ? undefined : items[at]
  if (at === undefined || command === undefined || link.args === undefined) return undefined
  const next = items[at + 1]
  const first = items[0]?.start ?? link.args.start + 1
  return [
    { ...tokenRange(link.command), text: text.slice(command.start, command.end) },
    next === undefined
      ? { start: link.args.start, end: link.args.end, text: '[]' }
      : { start: first, end: next.start, text: '' },
  ]
}

function tokenRange({ start, end }: ConfigToken): { start: number; end: number } {
  return { start, end }
}
