import type { Setting } from '../../config/setting.ts'
import { ReelayError } from '../../errors.ts'
import { similarName } from '../../text.ts'

/**
 * One option of a command. Command-line parsing, help, the config reader, `schema/config-1.json` and the tables in docs/ are
 * all made from it.
 */
export interface OptionRow<Value> {
  /** Such as `--timeout`, or `-o, --output`. An option without a flag can only be set in the project config. */
  readonly flag?: string
  /** Earlier spellings, which still work and are not shown. */
  readonly aliases?: readonly string[]
  readonly type: OptionType<Value>
  /** Names the value in help, where the placeholder of the type says too little. */
  readonly placeholder?: string
  /** Where the project config sets it, such as `replay.defaults.timeout`. */
  readonly config?: string | readonly string[]
  /** The default, as help shows it. */
  readonly default?: string
  /** The heading in help; by default `Options`. */
  readonly group?: string
  readonly help: string
  /** Without one of these options this one has no effect: a required value, or `true` for any value. */
  readonly needs?: Readonly<Record<string, string | true>>
  /** Options that cannot be given together with this one. */
  readonly conflicts?: readonly string[]
}

export type OptionType<Value> = SwitchType<Value> | ValueType<Value>

/** An option without a value. */
export interface SwitchType<Value> {
  readonly kind: 'switch'
  readonly on: Value
  /** The value of the `--no-…` form, if there is one. */
  readonly off?: Value
  readonly schema?: JsonSchema
  readonly fromConfig?: (setting: Setting, env: Environment) => Value
}

export interface ValueType<Value> {
  readonly kind: 'value'
  /** Completes an error: `invalid <name> "x" for --flag`. */
  readonly name: string
  readonly placeholder: string
  /** All values, if there are only a few. */
  readonly choices?: readonly string[]
  /** Completes an error: `(expected <expected>)`. */
  readonly expected: string
  /** The value of an option that is given without one; by default a value is required. */
  readonly bare?: Value
  /** Returns `undefined` if the text is invalid; throws a `ReelayError` if there is more to say. */
  readonly parse: (text: string, env: Environment) => Value | undefined
  /** Combines repeated values, and those of the config with those of the command line. By default the last one wins. */
  join?(before: Value, after: Value): Value
  /** JSON Schema of the value in the config. */
  readonly schema?: JsonSchema
  readonly fromConfig?: (setting: Setting, env: Environment) => Value
}

type JsonSchema = Readonly<Record<string, unknown>>
export type Environment = Readonly<Record<string, string | undefined>>

/** The options of a command, by the names of the values that they set. */
export type OptionTable<Values> = {
  readonly [Name in keyof Values]-?: OptionRow<Exclude<Values[Name], undefined>>
}

/** An option table whose value types are not known. */
export type OptionRows = Readonly<Record<string, OptionRow<unknown>>>

/** A row from its flag, such as `-o, --output <file>`, its type and its help. */
export function option<Value>(
  flag: string,
  type: OptionType<Value>,
  help: string,
  more?: Partial<OptionRow<Value>>,
): OptionRow<Value> {
  const at = flag.indexOf(' <') // a pattern would make the start of every recording slower
  if (at < 0) return { flag, type, help, ...more }
  return { flag: flag.slice(0, at), placeholder: flag.slice(at + 2, -1), type, help, ...more }
}

/** Rows under one heading of the help page. */
export function inGroup<Rows extends OptionRows>(group: string, rows: Rows): Rows {
  const grouped = { ...rows }
  for (const name of Object.keys(rows)) Reflect.set(grouped, name, { ...rows[name], group })
  return grouped
}

/** The command line by option: each text that was given, and for options without a text `true`, or `false` for `--no-…`. */
export type GivenOptions = Readonly<Record<string, readonly (string | boolean)[]>>

interface ReadContext<Values> {
  /** The command, for hints. */
  readonly command: string
  /** Values of the project config; the command line overrides them, and adds to lists. */
  readonly configured?: Partial<Values>
  readonly env?: Environment
}

/** Reads the values of a command line. Options that would have no effect are rejected. */
export function readOptions<Values>(
  table: OptionTable<Values> & OptionRows,
  given: GivenOptions,
  { command, configured = {}, env = process.env }: ReadContext<Values>,
): Values {
  const values: Record<string, unknown> = { ...configured }
  const names = Object.keys(given)
  for (const name of names) {
    const row = table[name]
    if (row) rejectFlagsAsValues(row, given[name] ?? [], command)
    const read = row && given[name]?.map((one) => readValue(row, one, command, env))
    if (row && read) values[name] = joinValues(row.type, [values[name], ...read])
  }
  for (const name of names) {
    rejectConflicts(table, name, given)
    rejectWithoutEffect(table, name, values)
  }
  return values as Values
}

function joinValues(type: OptionType<unknown>, values: readonly unknown[]): unknown {
  const [first, ...others] = values.filter((value) => value !== undefined)
  if (type.kind === 'switch' || type.join === undefined) return others.at(-1) ?? first
  return others.reduce((before, after) => type.join?.(before, after), first)
}

function readValue(
  { flag = '', type }: OptionRow<unknown>,
  given: string | boolean,
  command: string,
  env: Environment,
): unknown {
  if (type.kind === 'switch') return given === false ? type.off : type.on
  if (typeof given === 'boolean') return type.bare
  const value = type.parse(given, env)
  if (value !== undefined) return value
  const similar = similarName(given, type.choices ?? [])
  const help = `see reelay ${command} --help`
  throw invalidValue(
    type,
    given,
    flag,
    similar === undefined ? help : `did you mean ${similar}? Otherwise ${help}`,
  )
}

/** In `--record -o file` the name of the tape is missing. */
function rejectFlagsAsValues(
  row: OptionRow<unknown>,
  given: readonly (string | boolean)[],
  command: string,
): void {
  const taken = given.find((value) => typeof value === 'string' && LOOKS_LIKE_FLAG.test(value))
  if (taken !== undefined) throw valueMissing(row, command, taken === '--' ? '' : ` (${taken} is an option)`)
}

const LOOKS_LIKE_FLAG = /^-(?:[a-zA-Z]|-(?:[a-z][a-z-]*)?)$/

function valueMissing(row: OptionRow<unknown>, command: string, why = ''): ReelayError {
  return usageError(
    `${longFlag(row.flag ?? '')} needs a value: ${valueName(row)}${why}`,
    `see reelay ${command} --help`,
  )
}

export function invalidValue(
  { name, expected }: Pick<ValueType<unknown>, 'name' | 'expected'>,
  given: string,
  flag: string,
  hint: string,
): ReelayError {
  return usageError(
    `invalid ${name} ${JSON.stringify(given)} for ${longFlag(flag)} (expected ${expected})`,
    hint,
  )
}

function rejectConflicts(table: OptionRows, name: string, given: GivenOptions): void {
  const other = table[name]?.conflicts?.find((each) => given[each] !== undefined)
  if (other === undefined) return
  const [one, two] = [flagOf(table, name), flagOf(table, other)]
  throw usageError(`${one} cannot be used together with ${two}`, `leave out ${one} or ${two}`)
}

function rejectWithoutEffect(
  table: OptionRows,
  name: string,
  values: Readonly<Record<string, unknown>>,
): void {
  const needs = Object.entries(table[name]?.needs ?? {})
  const isMet = needs.some(([needed, value]) =>
    value === true ? values[needed] !== undefined : values[needed] === value,
  )
  if (needs.length === 0 || isMet) return
  const options = needs.map(([needed, value]) =>
    value === true ? flagOf(table, needed) : `${flagOf(table, needed)} ${value}`,
  )
  throw withoutEffect(flagOf(table, name), options.join(' or '))
}

/** The error for an option that would be ignored. */
export function withoutEffect(flag: string, needed: string): ReelayError {
  return usageError(`${flag} has no effect without ${needed}`, `add ${needed}, or leave out ${flag}`)
}

export function usageError(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}

function flagOf(table: OptionRows, name: string): string {
  return longFlag(table[name]?.flag ?? name)
}

/** The long form of `-o, --output`. */
export function longFlag(flag: string): string {
  return flag.replace(/^-\w, /, '')
}

/** The given options as words of a command line, for a command that is suggested. */
export function formatOptions(
  table: OptionRows,
  given: GivenOptions,
  names: readonly string[],
): readonly string[] {
  return names.flatMap((name) =>
    (given[name] ?? []).flatMap((value) => [
      flagOf(table, name),
      ...(typeof value === 'string' ? [value] : []),
    ]),
  )
}

/** Takes options off the front of a command line, without a parser, or patterns, that take time to load. */
export function takeOptions(
  argv: readonly string[],
  table: OptionRows,
  unknown: (flag: string) => ReelayError,
): { readonly given: GivenOptions; readonly rest: readonly string[]; readonly isHelp: boolean } {
  const rows = Object.entries(table)
  const given: Record<string, (string | boolean)[]> = {}
  let at = 0
  for (let word = argv[at]; word !== undefined && isFlag(word); word = argv[at]) {
    if (HELP_FLAGS.includes(word)) return { given, rest: [], isHelp: true }
    const equals = word.startsWith('--') ? word.indexOf('=', 3) : -1
    const [flag, inline] = equals < 0 ? [word] : [word.slice(0, equals), word.slice(equals + 1)]
    const [name, row] = rows.find((entry) => hasFlag(entry[1], flag)) ?? []
    if (name === undefined || row === undefined) throw unknown(flag)
    const isSwitch = row.type.kind === 'switch'
    if (isSwitch && inline !== undefined) throw usageError(`${flag} takes no value`, `write ${flag} alone`)
    const value = isSwitch ? true : (inline ?? argv[++at])
    if (value === undefined || value === '--') throw valueMissing(row, 'record')
    ;(given[name] ??= []).push(value)
    at++
  }
  return { given, rest: argv.slice(at), isHelp: false }
}

/** An option of the command that other tools, or other commands, call by this name. */
export function otherOptionName(flag: string, known: readonly string[]): string | undefined {
  return OTHER_NAMES[flag]?.find((name) => known.includes(name))
}

const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  '--duration': ['--for'],
  '--vus': ['--users'],
  '--concurrency': ['--users'],
  '--format': ['--report', '--json'],
  '--reporter': ['--report', '--json'],
  '--force': ['--overwrite', '--yes'],
  '--port': ['--http', '--listen'],
  '-p': ['--http', '--listen'],
  '--transport': ['--http', '--url'],
  '--write': ['--output'],
  '--host': ['--http', '--listen'],
  '--listen': ['--http'],
  '--http': ['--listen'],
  '--older-than': ['--before'],
  '--older': ['--before'],
  '--fault': ['--faults'],
  '--method': ['--include', '--filter'],
  '--grep': ['--filter'],
  '--search': ['--filter'],
  '--breakpoint': ['--break'],
  '--objective': ['--slo'],
  '--threshold': ['--slo'],
  '--thresholds': ['--slo'],
  '--expect': ['--slo'],
  '--endpoint': ['--url'],
  '--out': ['--output'],
  '--file': ['--output'],
  '--only': ['--include'],
  '--skip': ['--exclude'],
  '--speed': ['--pace'],
  '--latency': ['--pace', '--faults'],
  '--delay': ['--pace', '--faults'],
  '--loop': ['--permissive'],
  '--silent': ['--quiet'],
  '--debug': ['--verbose'],
  '--fail-fast': ['--on-error'],
  '--bail': ['--on-error'],
  '--allow-all': ['--allow-writes'],
  '--to': ['--format'],
}

/** What to do instead of an option that no command has. */
export function insteadOfOption(flag: string, known: readonly string[]): string | undefined {
  const row = INSTEAD_OF_OPTIONS.find(({ flags }) => flags.includes(flag))
  return row === undefined || (row.needs !== undefined && !known.includes(row.needs))
    ? undefined
    : row.hint(flag)
}

const INSTEAD_OF_OPTIONS: readonly {
  readonly flags: readonly string[]
  readonly needs?: string
  readonly hint: (flag: string) => string
}[] = [
  {
    flags: ['--env', '-e'],
    hint: () =>
      'to set a variable for the server, put env before its command: -- env KEY=value node server.js',
  },
  {
    flags: ['--cwd', '--dir', '--directory', '--workdir'],
    hint: () => 'the server starts in the folder that you are in: change to its folder first',
  },
  {
    flags: ['--command', '--cmd', '--exec'],
    hint: () => 'the server command needs no option: put it at the end, after --, as in: -- node server.js',
  },
  {
    flags: ['--tape', '--cassette', '--session'],
    hint: () => 'the tape needs no option: write its name after the command, as in: reelay serve my-tape',
  },
  {
    flags: ['--token', '--bearer', '--auth', '--api-key'],
    needs: '--header',
    hint: () => "write it as --header 'Authorization: Bearer ${env.TOKEN}'",
  },
  {
    flags: ['--insecure', '-k', '--no-verify', '--ca', '--cacert'],
    needs: '--header',
    hint: () => 'if you trust the certificate, set NODE_EXTRA_CA_CERTS to the file of the CA that signed it',
  },
  {
    flags: ['--junit', '--html', '--markdown', '--sarif'],
    needs: '--report',
    hint: (flag) => `write it as --report ${flag.slice(2)}=<file>`,
  },
  {
    flags: ['--follow', '--tail', '-f'],
    hint: () => 'reelay tail <tape> follows a tape that is being recorded, without an option',
  },
  {
    flags: ['--list', '--servers'],
    needs: '--client',
    hint: () => 'reelay doctor lists the servers of your clients',
  },
]

function isFlag(word: string): boolean {
  return word.startsWith('-') && word !== '-' && word !== '--'
}

const HELP_FLAGS = ['-h', '--help', '--help-all']

/** Returns true if `word` is a flag of this row, or an alias. */
export function hasFlag({ flag = '', aliases }: OptionRow<unknown>, word: string): boolean {
  return (flag.includes(word) && flag.split(', ').includes(word)) || aliases?.includes(word) === true
}

/** The value of an option as help shows it: `<file>`, or `[file]` where it may be left out. */
export function valueName({ type, placeholder }: OptionRow<unknown>): string {
  if (type.kind === 'switch') return ''
  const name = placeholder ?? type.placeholder
  return type.bare === undefined ? `<${name}>` : `[${name}]`
}

/** The description of an option with its values and its default. */
export function optionHelp({ type, flag = '', help, default: shown }: OptionRow<unknown>): string {
  const isToggle = type.kind === 'switch' && type.off !== undefined
  const facts = [
    ...(isToggle ? [`${longFlag(flag).replace('--', '--no-')} overrides the config`] : []),
    ...(type.kind === 'value' && type.choices !== undefined ? [`values: ${type.choices.join(', ')}`] : []),
    ...(shown === undefined ? [] : [`default: ${shown}`]),
  ]
  return facts.length === 0 ? help : `${help} (${facts.join('; ')})`
}
