import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { ReelayError } from '../../errors.ts'
import { suggestName } from '../../text.ts'
import { isObject, member, parseJson } from '../../json/parse.ts'
import { resolveTape, TAPE_EXTENSION, tapeFolder } from '../../store/home.ts'
import type { CommandDefinition } from '../command.ts'
import { longFlag, optionHelp, valueName, type OptionRow } from '../options/option.ts'
import { print } from '../output/print.ts'
import { readKnownTools } from '../scenario/known-tools.ts'

/** Prints the completion script of a shell. The scripts call `reelay completion words` for every suggestion. */
export function completionCommand(load: () => Promise<readonly CommandDefinition[]>): CommandDefinition {
  return {
    name: 'completion',
    arguments: { '<shell...>': `One of ${Object.keys(SCRIPTS).join(', ')}` },
    usage: '<shell>',
    options: {},
    notes: `Add one of these lines to the file that your shell reads when it starts:
  bash (~/.bashrc):    source <(reelay completion bash)
  zsh (~/.zshrc):      source <(reelay completion zsh)
  fish (config.fish):  reelay completion fish | source
  PowerShell ($PROFILE):
    reelay completion powershell | Out-String | Invoke-Expression`,
    run: async ([shell = '', ...words]) => {
      if (shell === 'words') return print(suggestionLines(words, await load()))
      if (words.length > 0)
        throw new ReelayError(
          'USAGE',
          `one shell is expected, not ${words.length + 1}: ${[shell, ...words].join(' ')}`,
          {
            hint: 'each shell has its own script: run the command once for each',
          },
        )
      const script = SCRIPTS[shell]
      if (script !== undefined) return print(script)
      const hint = `use one of ${Object.keys(SCRIPTS).join(', ')}${suggestName(shell, Object.keys(SCRIPTS))}`
      throw new ReelayError('USAGE', `there is no completion for the shell "${shell}"`, { hint })
    },
  }
}

interface Suggestion {
  readonly word: string
  readonly about?: string
}

/** Tells the script that file names fit too. */
const FILES: Suggestion = { word: ':files' }

/** One line for each suggestion: the word, a tab and what it is about. */
function suggestionLines(given: readonly string[], commands: readonly CommandDefinition[]): string {
  const words = joinAtEqualsSigns(given)
  // PowerShell drops empty words, so its script sends a colon instead.
  const typed = words.at(-1) === ':' ? '' : (words.at(-1) ?? '')
  return suggestions(words.slice(0, -1), typed, commands)
    .filter(({ word }) => word.startsWith(typed) || word === FILES.word)
    .map(({ word, about = '' }) => `${word}\t${about.split('\n')[0]}\n`)
    .join('')
}

/** Bash hands over `--pace=x2` as three words. */
function joinAtEqualsSigns(words: readonly string[]): readonly string[] {
  const joined: string[] = []
  for (const word of words) {
    const before = joined.at(-1)
    const isValue = before?.startsWith('--') === true && before.endsWith('=')
    if (before !== undefined && (isValue || (word === '=' && before.startsWith('--'))))
      joined[joined.length - 1] = before + word
    else joined.push(word)
  }
  return joined
}

function suggestions(
  before: readonly string[],
  typed: string,
  commands: readonly CommandDefinition[],
): readonly Suggestion[] {
  if (before.includes('--')) return [FILES] // the command of a server
  const { command, rest } = findCommand(before, commands)
  if (command === undefined)
    return rest.length > 0 ? [] : commands.map(({ name, help }) => withAbout(name, help))
  const [flag = '', value] = typed.includes('=') ? splitAtEqualsSign(typed) : [before.at(-1) ?? '']
  const row = rowOf(command, flag)
  if (row?.type.kind === 'value') {
    const values = valuesOf(row, { rest, command, typed: value ?? typed })
    return value === undefined ? values : values.map(({ word, about }) => withAbout(`${flag}=${word}`, about))
  }
  if (typed.startsWith('-')) return flagsOf(command)
  if (command.name === 'call') return callSuggestions(rest, typed, command)
  const subcommands = (command.commands ?? []).map(({ name, help }) => withAbout(name, help))
  if (subcommands.length > 0) return subcommands
  return Object.keys(command.arguments ?? {}).some((name) => name.includes('tape'))
    ? [...tapeNames(), FILES]
    : [FILES]
}

/** The tools that `reelay call` has seen, then the arguments of the tool. No server is asked: a Tab must not start a program. */
function callSuggestions(
  rest: readonly string[],
  typed: string,
  command: CommandDefinition,
): readonly Suggestion[] {
  const known = readKnownTools()
  const tool = firstArgument(rest, command)
  if (tool === undefined) return Object.keys(known).map((word) => ({ word, about: 'tool' }))
  if (typed.includes('=')) return [FILES]
  const given = new Set(rest.map((word) => word.split(/:?=/, 1)[0]))
  return (known[tool] ?? []).filter((name) => !given.has(name)).map((name) => ({ word: `${name}=` }))
}

function splitAtEqualsSign(word: string): readonly [string, string] {
  const at = word.indexOf('=')
  return [word.slice(0, at), word.slice(at + 1)]
}

function withAbout(word: string, about: string | undefined): Suggestion {
  return about === undefined ? { word } : { word, about }
}

/** Finds the command that is being typed, and the words that follow it. */
function findCommand(
  words: readonly string[],
  commands: readonly CommandDefinition[],
): { readonly command?: CommandDefinition; readonly rest: readonly string[] } {
  const [name, ...rest] = words
  const command = commands.find((each) => each.name === name)
  if (command === undefined) return { rest: words }
  const inner = command.commands === undefined ? undefined : findCommand(rest, command.commands)
  return inner?.command === undefined ? { command, rest } : inner
}

function rowOf({ options }: CommandDefinition, flag: string): OptionRow<unknown> | undefined {
  return Object.values(options).find((row) =>
    [...(row.flag?.split(', ') ?? []), ...(row.aliases ?? [])].includes(flag),
  )
}

function flagsOf({ options }: CommandDefinition): readonly Suggestion[] {
  const rows = Object.values(options).filter(({ flag }) => flag !== undefined)
  return [
    ...rows.map((row) => ({ word: longFlag(row.flag ?? ''), about: optionHelp(row) })),
    { word: '--help', about: 'Show help' },
  ]
}

interface ValueContext {
  readonly rest: readonly string[]
  readonly command: CommandDefinition
  readonly typed: string
}

function valuesOf(row: OptionRow<unknown>, { rest, command, typed }: ValueContext): readonly Suggestion[] {
  if (row.type.kind === 'switch') return []
  if (row.type.choices !== undefined) return row.type.choices.map((word) => ({ word }))
  const placeholder = valueName(row)
  if (placeholder.includes('tape')) return [...tapeNames(), FILES]
  if (/file|config/.test(placeholder)) return [FILES]
  const kind = /tools?|methods?/.exec(placeholder)?.[0]
  if (kind === undefined) return []
  const names = namesOnTape(firstArgument(rest, command))
  const done = typed.slice(0, typed.lastIndexOf(',') + 1) // names that are already in the list
  return [...(kind.startsWith('tool') ? names.tools : names.methods)].map((name) => ({ word: done + name }))
}

function tapeNames(): readonly Suggestion[] {
  try {
    return readdirSync(tapeFolder())
      .filter((file) => file.endsWith(TAPE_EXTENSION))
      .map((file) => ({ word: file.slice(0, -TAPE_EXTENSION.length), about: 'tape' }))
  } catch {
    return [] // nothing was recorded yet
  }
}

/** The first word that is neither an option nor the value of one. */
function firstArgument(words: readonly string[], command: CommandDefinition): string | undefined {
  return words.find(
    (word, at) => !word.startsWith('-') && rowOf(command, words[at - 1] ?? '')?.type.kind !== 'value',
  )
}

/** The tools and methods on the first part of a tape. */
function namesOnTape(tape: string | undefined): { tools: ReadonlySet<string>; methods: ReadonlySet<string> } {
  const [tools, methods] = [new Set<string>(), new Set<string>()]
  for (const line of tape === undefined ? [] : firstLines(tape)) {
    const message = member(line, 'msg')
    const [method, listed] = [member(message, 'method'), member(member(message, 'result'), 'tools')]
    if (typeof method === 'string') methods.add(method)
    const called = method === 'tools/call' ? [member(message, 'params')] : []
    for (const tool of [...called, ...(Array.isArray(listed) ? listed : [])]) {
      const name = member(tool, 'name')
      if (typeof name === 'string' && /^[\w./-]+$/.test(name)) tools.add(name)
    }
  }
  return { tools, methods }
}

/** A user waits for suggestions, so a long tape is not read to its end. */
const READ_BYTES = 4 * 1024 * 1024

function firstLines(tape: string): readonly object[] {
  let file: number | undefined
  try {
    file = openSync(resolveTape(tape), 'r')
    const bytes = Buffer.alloc(READ_BYTES)
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, READ_BYTES, 0))
    return text
      .slice(0, text.lastIndexOf('\n'))
      .split('\n')
      .map((line) => parseJson(line))
      .filter(isObject)
  } catch {
    return []
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const BASH = `# Completion of reelay for bash.
_reelay() {
  COMPREPLY=()
  local word about typed="\${COMP_WORDS[COMP_CWORD]}"
  [ "$typed" = '=' ] && typed=''
  while IFS=$'\\t' read -r word about; do
    if [ "$word" = ':files' ]; then compopt -o default 2>/dev/null
    elif [[ "$word" == --*=* && "$typed" != --* ]]; then COMPREPLY+=("\${word#*=}")
    else COMPREPLY+=("$word"); fi
  done < <(reelay completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _reelay reelay
`

const ZSH = `#compdef reelay
# Completion of reelay for zsh.
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
_reelay() {
  local -a suggested
  local word about files=0
  while IFS=$'\\t' read -r word about; do
    if [[ $word == ':files' ]]; then files=1
    else suggested+=("\${word//:/\\\\:}:$about"); fi
  done < <(reelay completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#suggested} )) && _describe 'reelay' suggested
  (( files )) && _files
}
compdef _reelay reelay
`

const FISH = `# Completion of reelay for fish.
function __reelay_suggest
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (reelay completion words -- $words[2..-1] 2>/dev/null)
    for line in $lines
        if string match -q ':files*' -- $line
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c reelay -f -a '(__reelay_suggest)'
`

const POWERSHELL = `# Completion of reelay for PowerShell.
Register-ArgumentCompleter -Native -CommandName reelay -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += ':' }
    & reelay completion words '--' @words 2>$null | ForEach-Object {
        $word, $about = $_ -split "\`t", 2
        if ($word -ne ':files') {
            if (-not $about) { $about = $word }
            [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $about)
        }
    }
}
`

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH, powershell: POWERSHELL }
