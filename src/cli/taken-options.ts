import { recordUsageError } from './record-limits.ts'
import { RECORD_OPTIONS } from './options/record-options.ts'

/** An option of `reelay record`, with its value; `''` for one that takes none. */
export type GivenOption = { readonly long: string; readonly value: string }

/** Takes our options off the front; what follows them belongs to the server command, flags and all. */
export function takeRecordOptions(argv: readonly string[]): {
  given: readonly GivenOption[]
  rest: readonly string[]
} {
  const given: GivenOption[] = []
  let at = 0
  for (let word = argv[at]; word !== undefined && isFlag(word); word = argv[at]) {
    const { option, inline } = findRecordOption(word)
    const value = option.value === undefined ? '' : (inline ?? argv[++at])
    if (value === undefined) throw recordUsageError(`${option.long} needs a value: <${option.value}>`)
    given.push({ long: option.long, value })
    at++
  }
  return { given, rest: argv.slice(at) }
}

function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '--' && word !== '-'
}

function findRecordOption(word: string): {
  option: { long: string; value: string | undefined }
  inline: string | undefined
} {
  if (word === '-h' || word === '--help')
    return { option: { long: '--help', value: undefined }, inline: undefined }
  const [flag, inline] =
    word.startsWith('--') && word.includes('=') ? splitOnce(word, '=') : [word, undefined]
  const option = RECORD_OPTIONS.find(({ short, long }) => flag === long || flag === short)
  if (option === undefined)
    throw recordUsageError(
      `unknown option ${flag}`,
      'options of the server command go behind it, or behind --',
    )
  if (inline !== undefined && option.value === undefined) throw recordUsageError(`${flag} takes no value`)
  return { option, inline }
}

function splitOnce(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** The value of an option: of the last, where it is given several times. */
export function lastValueOf(given: readonly GivenOption[]): (long: string) => string | undefined {
  return (long) => given.findLast((each) => each.long === long)?.value
}
