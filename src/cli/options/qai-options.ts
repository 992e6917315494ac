import { existsSync } from 'node:fs'
import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'
import { isTapePath } from '../../store/home.ts'
import { escapeControlChars, quoteShellWord } from '../../text.ts'
import { usageError } from './option.ts'

/**
 * Rewrites a command line with the option names of qai: the file and the server are options there. The command line that is run is
 * printed, so that the names of Reelay can be learned.
 */
export function translateQaiOptions(argv: readonly string[]): readonly string[] {
  const [verb = '', ...words] = argv
  const dashes = words.indexOf('--')
  const own = dashes < 0 ? words : words.slice(0, dashes)
  const taken = new Map<string, string>()
  const rest: string[] = []
  for (let at = 0; at < own.length; at++) {
    const [, name = '', inline] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(own[at] ?? '') ?? []
    if (!TRANSLATED.has(name)) rest.push(own[at] ?? '')
    else if (name === '--no-handshake') taken.set(name, '')
    else {
      const value = inline ?? own[++at]
      if (value === undefined) throw usageError(`${name} needs a value`, `see reelay ${verb} --help`)
      taken.set(name, value)
    }
  }
  const command = serverWords(taken.get('--target-command'), dashes < 0 ? undefined : words.slice(dashes + 1))
  const file = taken.get('--session-file')
  const url = taken.get('--target-url')
  const isRecord = verb === 'record'
  const translated = [
    verb,
    ...(file === undefined ? [] : isRecord ? ['-o', file] : [tapeWord(file)]),
    ...(url === undefined ? [] : ['--url', url]),
    ...(taken.has('--no-handshake') ? ['--handshake', 'recorded'] : []),
    ...(isReplay(verb) ? translatedValues(rest) : rest),
    ...(command === undefined ? [] : ['--', ...command]),
  ]
  const shown = createThrowawayRedactor().command(['reelay', ...translated])
  process.stderr.write(
    `reelay: read as: ${escapeControlChars(Array.from(shown, quoteShellWord).join(' '))}\n`,
  )
  return translated
}

/** `--transport` says what the target shows anyway. */
const TRANSLATED: ReadonlySet<string> = new Set([
  '--session-file',
  '--target-command',
  '--target-url',
  '--no-handshake',
  '--transport',
])

function isReplay(verb: string): boolean {
  return verb === 'replay' || verb === 'verify'
}

/** A timeout of qai is in seconds, and its output has the results of a replay. */
function translatedValues(words: readonly string[]): readonly string[] {
  return words.map((word, at) => {
    const [, option, value] = /^(--timeout|--output)=(.*)$/s.exec(word) ?? []
    if (option === '--timeout') return `${option}=${inSeconds(value ?? '')}`
    if (option === '--output') return `--results=${value}`
    if (word === '--output') return '--results'
    return words[at - 1] === '--timeout' ? inSeconds(word) : word
  })
}

function inSeconds(value: string): string {
  return /^\d+(\.\d+)?$/.test(value) ? `${Number(value)}s` : value
}

/** A session file of qai is a path. A name without an ending can also be that of a tape in the tape folder. */
function tapeWord(file: string): string {
  if (isTapePath(file)) return file
  return existsSync(file) || /\.\w+$/.test(file) ? `./${file}` : file
}

function serverWords(
  line: string | undefined,
  after: readonly string[] | undefined,
): readonly string[] | undefined {
  if (line === undefined) return after
  if (after !== undefined)
    throw usageError('the server command is given twice', 'use either --target-command or --')
  const words = splitCommandLine(line)
  if (words.length === 0)
    throw usageError('the command of --target-command is empty', 'give the server command')
  return words
}

/** Splits a command line at spaces, as a shell does. On Windows, a backslash is part of a path. */
function splitCommandLine(line: string): readonly string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const char = line[at] ?? ''
    const next = line[at + 1] ?? ''
    const escapes = quote === '"' ? '"\\$`'.includes(next) : quote === '' && process.platform !== 'win32'
    if (char === '\\' && escapes && next !== '') {
      word = (word ?? '') + next
      at++
    } else if (quote !== '') {
      if (char === quote) quote = ''
      else word = (word ?? '') + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  if (quote !== '')
    throw usageError(`--target-command has an open quote: ${line}`, `add a ${quote} at the end of the word`)
  return word === undefined ? words : [...words, word]
}
