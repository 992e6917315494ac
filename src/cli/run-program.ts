import { Argument, Command, CommanderError, Option } from 'commander'
import { ReelayError } from '../errors.ts'
import { quoteShellWord, similarName, similarOption } from '../text.ts'
import { VERSION } from '../version.ts'
import type { CommandDefinition } from './command.ts'
import {
  insteadOfOption,
  longFlag,
  optionHelp,
  otherOptionName,
  valueName,
  type GivenOptions,
  type OptionRow,
} from './options/option.ts'
import { ignoreClosedOutput } from './output/print.ts'
import { COMMANDS, type CommandEntry } from './program.ts'

/** Runs the command that the arguments name. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  ignoreClosedOutput()
  const program = configure(new Command('reelay'), 'Options:')
    .description('Record MCP sessions, serve them to clients and replay them against servers')
    .version(VERSION, '-V, --version', 'Show the version')
    .option('--no-color', 'Print without colours; works with every command')
    .showSuggestionAfterError()
    .addHelpCommand(helpCommand().helpGroup('Get started:'))
  for (const [heading, entries] of Object.entries(COMMANDS))
    for (const entry of entries) program.addCommand((await commandFor(entry, argv)).helpGroup(`${heading}:`))
  try {
    rejectUnknownCommand(program, argv)
    rejectMissingTape(argv)
    rejectMissingValue(program, argv)
    const words = argv[2] === 'help' && argv[3] === 'help' ? argv.slice(0, 3) : argv
    await program.parseAsync(words.map((word, at) => (at === 2 ? (OTHER_OPTIONS[word] ?? word) : word)))
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return
    if (error.code !== 'commander.help') throw usageErrorFrom(error, program, argv)
    if (argv[2] !== 'help') process.exitCode = 2 // without a command, the help is the answer
  }
}

/** Options that are expected before a command, because they work after one or in other programs. */
const OTHER_OPTIONS: Readonly<Record<string, string>> = { '-v': '--version', '--help-all': '--help' }

/** Loads a command only if it is named. Of the others, help needs no more than their names and descriptions. */
async function commandFor(
  { name, help, examples, load }: CommandEntry,
  argv: readonly string[],
): Promise<Command> {
  const [verb, topic] = argv.slice(2)
  const isNamed = name === verb || (verb === 'help' && name === topic)
  return isNamed ? build({ ...(await load()), help, examples }) : new Command(name).description(help)
}

function helpCommand(): Command {
  return new Command('help').argument('[command]').description('Show help for a command')
}

/** Wider lines are hard to read. A pipe has no width. */
const MAX_HELP_WIDTH = 100
const DEFAULT_HELP_WIDTH = 80

function helpWidth(): number {
  return Math.min(process.stdout.columns ?? DEFAULT_HELP_WIDTH, MAX_HELP_WIDTH)
}

/** Breaks long lines at spaces. Lines that are indented are left as they are. */
function wrapText(text: string, width: number): string {
  const wrap = (line: string): string => {
    if (line.length <= width || line.startsWith(' ')) return line
    const at = line.lastIndexOf(' ', width)
    return at <= 0 ? line : `${line.slice(0, at)}\n${wrap(line.slice(at + 1))}`
  }
  return text.split('\n').map(wrap).join('\n')
}

/** Misuse is thrown instead of printed, so that all errors look alike. */
function configure(command: Command, helpGroup = 'Help:'): Command {
  return command
    .exitOverride()
    .configureOutput({ outputError: () => {}, getOutHelpWidth: helpWidth })
    .configureHelp({ subcommandTerm: (each) => each.name() })
    .addHelpOption(new Option('-h, --help', 'Show help').helpGroup(helpGroup))
}

function build(definition: CommandDefinition, parent = 'reelay'): Command {
  const { name, help = '', usage, notes, examples = [], commands = [], run } = definition
  const path = `${parent} ${name}`
  const command = configure(new Command(name)).description(help)
  if (usage !== undefined) command.usage(usage)
  for (const [argument, about] of Object.entries(definition.arguments ?? {}))
    command.addArgument(new Argument(argument, about))
  const given = addOptions(command, definition, path)
  if (notes !== undefined) command.addHelpText('after', `\n${wrapText(notes, helpWidth())}`)
  if (examples.length > 0)
    command.addHelpText('after', ['\nExamples:', ...examples.map((line) => `  ${line}`)].join('\n'))
  if (commands.length > 0) command.addHelpCommand(helpCommand())
  for (const each of commands) {
    const own = examples.filter((line) => line.startsWith(`${path} ${each.name}`))
    command.addCommand(build({ ...each, examples: own }, path))
  }
  if (run !== undefined)
    command.action(() => {
      rejectWordsBeforeDashes(path, definition, command.args)
      noteOptionsAfterDashes(definition)
      return run(command.args, given)
    })
  return command
}

/** In `reelay verify one two -- node server.js`, the second word would be taken for the server command. */
function rejectWordsBeforeDashes(
  path: string,
  { arguments: named = {} }: CommandDefinition,
  words: readonly string[],
): void {
  const names = Object.keys(named)
  const dashes = process.argv.indexOf('--')
  if (dashes < 0 || !/^.command\.\.\..$/.test(names.at(-1) ?? '')) return
  const before = words.slice(0, words.length - (process.argv.length - dashes - 1))
  const [wanted, are] = names.length === 2 ? ['one word', 'is'] : [`${names.length - 1} words`, 'are']
  if (names.length === 1 || before.length < names.length) return
  throw new ReelayError(
    'USAGE',
    `${wanted} ${are} expected before --, not ${before.length}: ${before.join(' ')}`,
    {
      hint: `after -- comes the server command; see ${path} --help`,
    },
  )
}

/** Such an option is often added at the end of the line, where the server gets it, and hardly any server has it. */
function noteOptionsAfterDashes({ options }: CommandDefinition): void {
  const dashes = process.argv.indexOf('--')
  const words = dashes < 0 ? [] : process.argv.slice(dashes).map((word) => word.split('=')[0] ?? '')
  const flags = Object.values(options).map(({ flag = '' }) => longFlag(flag))
  const misplaced = RARE_IN_SERVERS.find((flag) => words.includes(flag) && flags.includes(flag))
  if (misplaced !== undefined)
    process.stderr.write(
      `reelay: ${misplaced} goes to the server, because it is after --; options of reelay come before --\n`,
    )
}

const RARE_IN_SERVERS = ['--allow-writes', '--start-timeout', '--ignore', '--update', '--report', '--set']

/** Adds the options. Returns the object that parsing fills with the given values. */
function addOptions(command: Command, { options, common }: CommandDefinition, path: string): GivenOptions {
  const given: Record<string, (string | boolean)[]> = {}
  const rows = Object.entries(options).filter(([, { flag }]) => flag !== undefined)
  const uncommon: Option[] = []
  const add = (name: string, option: Option, bare = true): void => {
    command.addOption(option)
    command.on(`option:${option.name()}`, (value: string | null | undefined) =>
      (given[name] ??= []).push(value ?? bare),
    )
  }
  for (const [name, row] of rows) {
    const option = new Option(optionTerm(row), optionHelp(row)).helpGroup(`${row.group ?? 'Options'}:`)
    if (common?.includes(name) === false) uncommon.push(option.hideHelp())
    add(name, option)
    if (row.type.kind === 'switch' && row.type.off !== undefined)
      add(name, new Option(longFlag(row.flag ?? '').replace('--', '--no-')).hideHelp(), false)
    for (const alias of row.aliases ?? []) add(name, new Option(`${alias} ${valueName(row)}`).hideHelp())
  }
  addHelpAll(command, uncommon, path)
  return given
}

function addHelpAll(command: Command, uncommon: readonly Option[], path: string): void {
  const count = uncommon.length
  const helpAll = new Option('--help-all', 'Show help with all options').helpGroup('Help:')
  command.addOption(helpAll.hideHelp(count === 0))
  command.addHelpText('after', () =>
    uncommon[0]?.hidden ? `\n${path} --help-all shows ${count} more options.` : '',
  )
  command.on('option:help-all', () => {
    for (const option of uncommon) option.hideHelp(false)
    command.help()
  })
}

function optionTerm(row: OptionRow<unknown>): string {
  return `${row.flag} ${valueName(row)}`.trim()
}

/** Commander would show the help of the whole program for an unknown topic, and for an unknown command with --help. */
function rejectUnknownCommand(program: Command, [, , verb, topic]: readonly string[]): void {
  const name = verb === 'help' ? topic : verb
  if (name === undefined || name === 'help' || name.startsWith('-')) return
  const known = ['help', ...program.commands.map((command) => command.name())]
  if (known.includes(name)) return
  const similar = OTHER_COMMANDS[name.toLowerCase()] ?? similarName(name.toLowerCase(), known)
  const guess = similar === undefined ? '' : `did you mean ${similar}? Otherwise `
  throw new ReelayError('USAGE', `unknown command '${name}'`, { hint: `${guess}see reelay --help` })
}

/** What other tools call a command. */
const OTHER_COMMANDS: Readonly<Record<string, string>> = {
  capture: 'record',
  check: 'verify',
  compare: 'diff',
  delete: 'rm',
  fuzz: 'chaos',
  ls: 'list',
  mock: 'serve',
  open: 'inspect',
  play: 'serve or replay',
  playback: 'serve or replay',
  proxy: 'record',
  remove: 'rm',
  show: 'inspect',
  start: 'serve',
  version: '--version',
  view: 'inspect',
}

function usageErrorFrom(error: CommanderError, program: Command, argv: readonly string[]): ReelayError {
  const [message = '', suggestion] = error.message.replace(/^error: /, '').split('\n')
  const command = program.commands.find((each) => each.name() === argv[2])?.name()
  const help = command === undefined ? 'see reelay --help' : `see reelay ${command} --help`
  const [, similar] = isTooShort(message) ? [] : (/^\((Did you mean .*\?)\)$/.exec(suggestion ?? '') ?? [])
  const meant = similar === 'Did you mean help?' ? undefined : similar // nobody means it
  const dashes = missingDashes(argv)
  const missing =
    dashes ??
    missingArgumentHint(message, argv) ??
    misplacedOption(message, argv) ??
    insteadOfUnknown(message, program, argv)
  const guess =
    dashes === undefined && insteadOfUnknown(message, program, argv) === undefined
      ? (otherNameOf(message, program, argv) ?? meant)
      : undefined
  if (guess === undefined && missing !== undefined)
    return new ReelayError('USAGE', message, { hint: missing, cause: error })
  const hint = guess === undefined ? help : `${guess.replace('Did', 'did')} Otherwise ${help}`
  return new ReelayError('USAGE', message, { hint, cause: error })
}

/** Too little is left of an option such as `--on` to guess what it should be. */
function isTooShort(message: string): boolean {
  return /^unknown option '--?.{1,2}'$/.test(message)
}

/** Options of a command are written after it. */
function misplacedOption(message: string, argv: readonly string[]): string | undefined {
  const [option = '', ...words] = argv.slice(2)
  const verb = words.find((word) => !word.startsWith('-'))
  const isCommand = Object.values(COMMANDS).some((entries) => entries.some(({ name }) => name === verb))
  if (!isCommand || message !== `unknown option '${option}'`) return undefined
  const rest = words.filter((word) => word !== verb).join(' ')
  return `options follow the command: reelay ${[verb, rest, option].filter((part) => part !== '').join(' ')}`
}

function insteadOfUnknown(message: string, program: Command, argv: readonly string[]): string | undefined {
  return insteadOfOption(unknownFlag(message), knownFlags(program, argv))
}

function unknownFlag(message: string): string {
  const [, unknown = ''] = /^unknown option '(.+)'$/.exec(message) ?? []
  return unknown
}

function knownFlags(program: Command, [, , verb]: readonly string[]): readonly string[] {
  const options = program.commands.find((each) => each.name() === verb)?.options ?? []
  return options.flatMap(({ long }) => long ?? [])
}

/** Options that other tools have by another name. */
function otherNameOf(message: string, program: Command, argv: readonly string[]): string | undefined {
  const [unknown, known] = [unknownFlag(message), knownFlags(program, argv)]
  // Commander does not suggest the options that only --help-all shows.
  const name =
    otherOptionName(unknown, known) ?? (isTooShort(message) ? undefined : similarOption(unknown, known))
  return name === undefined ? undefined : `Did you mean ${name}?`
}

/** Some hints are those of one command, because others have an argument of the same name. */
function missingArgumentHint(message: string, [, , verb, action]: readonly string[]): string | undefined {
  if (message.startsWith('too many arguments') && message.includes('Expected 0'))
    return `reelay ${verb} takes no arguments; see reelay ${verb} --help`
  if (verb === 'test' && message.startsWith('unknown command'))
    return 'tests run with a tape like this: reelay test run -- npm test; to check a server, use reelay verify'
  const [, argument] = (verb === 'call' && /^unknown option '--(\w[\w-]*)'$/.exec(message)) || []
  if (argument !== undefined) return `write an argument of the tool as ${argument}=<value>`
  const example = exampleOf(verb)
  if (message.startsWith('unknown command') && example !== undefined)
    return `a command is missing, as in: ${example}; see reelay ${verb} --help`
  const own = [`${verb} ${action}: ${message}`, `${verb}: ${message}`, message]
  return own.map((key) => MISSING_ARGUMENT_HINTS[key]).find((hint) => hint !== undefined)
}

function exampleOf(verb: string | undefined): string | undefined {
  const entries = Object.values(COMMANDS).flat()
  return entries.find(({ name }) => name === verb)?.examples[0]
}

const MISSING_ARGUMENT_HINTS: Readonly<Record<string, string>> = {
  "missing required argument 'filter'":
    "give what to look for, as in: reelay search 'tool:search status:error'; see reelay search --help",
  "rm: missing required argument 'tapes'":
    'give the tapes to delete, as in: reelay rm my-tape; reelay list shows them',
  "contract lock: missing required argument 'contract'":
    'give the file, as in: reelay contract lock server.lock.yaml my-tape',
  "contract accept: missing required argument 'contract'":
    'give the contract and a fingerprint that reelay contract check prints',
  "test run: missing required argument 'command'":
    'put the test command after --, as in: reelay test run -- npm test',
  "missing required argument 'command'":
    'put the command after --, as in: reelay run --record my-tape -- node app.js',
  "missing required argument 'tape'":
    'give the name of a tape, or the path of a tape file; reelay list shows your tapes',
  "missing required argument 'path'":
    'give a path in a request, as in: reelay match add my-tape params.arguments.date --as ignore',
  "missing required argument 'file'": 'give the path of the recording',
  "missing required argument 'before'": 'give two tapes, as in: reelay diff before-tape after-tape',
  "missing required argument 'paths'":
    'give two folders of tapes, as in: reelay diff-batch before-folder after-folder',
  "contract make: missing required argument 'tapes'":
    'give tapes, as in: reelay contract make my-tape -o tools.contract.yaml',
  "missing required argument 'tapes'":
    'give the names of tapes, or the paths of tape files; reelay list shows your tapes',
  "missing required argument 'from'":
    'give the file to convert, then the file to write; see reelay convert --help',
  "missing required argument 'to'":
    'give the file to write, as in: reelay convert recording.json my.tape.jsonl; see reelay convert --help',
  "missing required argument 'redis-url'":
    'give the URL of Redis, as in: reelay worker redis://127.0.0.1:6379',
  "missing required argument 'contract'":
    'give the contract first, as in: reelay contract check tools.contract.yaml my-tape; reelay contract make makes one',
  "missing required argument 'shell'": 'use one of bash, zsh, fish, powershell',
}

/** Without a tape, the first word of the server command would be taken for one. */
function rejectMissingTape([, , verb = '', ...words]: readonly string[]): void {
  if (!TAPE_COMMANDS.has(verb) || words[0] !== '--') return
  const command = words.slice(1).map(quoteShellWord).join(' ')
  throw new ReelayError('USAGE', 'no tape is given', {
    hint: `put its name before --, as in: reelay ${verb} my-tape -- ${command}`,
  })
}

/** Commands that take a tape and then, after --, the command of a live server. */
const TAPE_COMMANDS = new Set(['verify', 'replay', 'learn', 'debug', 'load', 'shrink'])

/** Commander would take `--` for the value. */
function rejectMissingValue(program: Command, argv: readonly string[]): void {
  const [, , verb = '', ...words] = argv
  const flag = words[words.indexOf('--') - 1]
  const known = program.commands.find((each) => each.name() === verb)?.options ?? []
  if (flag === undefined || !known.some(({ long, required }) => required && long === flag)) return
  throw new ReelayError('USAGE', `${flag} needs a value`, { hint: `see reelay ${verb} --help` })
}

/** The words of a server command are read as options of Reelay if `--` is missing. */
function missingDashes(argv: readonly string[]): string | undefined {
  const [, , command = '', ...words] = argv
  // A word after an option is most likely its value.
  const names = words.filter((word, at) => !word.startsWith('-') && words[at - 1]?.startsWith('-') !== true)
  const isServerMissing =
    ['verify', 'replay', 'learn', 'serve', 'debug', 'shrink'].includes(command) && names.length > 1
  if (argv.includes('--') || !(isServerMissing || (command === 'run' && names.length > 0))) return undefined
  return command === 'run'
    ? 'put -- before the command, as in: reelay run --record my-tape -- node app.js'
    : `put -- before the server command, as in: reelay ${command} my-tape -- node server.js`
}
