import { readOptions, type GivenOptions, type OptionRows, type OptionTable } from './options/option.ts'

/** A command: the program, its help and the tables in docs/ are made from it. */
export interface CommandDefinition {
  readonly name: string
  /** What the command does. The commands of the program have it in `program.ts`, so that help need not load them. */
  readonly help?: string
  readonly usage?: string
  /** The arguments with their help, such as `<tape>`, `[tape...]`. */
  readonly arguments?: Readonly<Record<string, string>>
  readonly options: OptionRows
  /** The options that `--help` shows; `--help-all` shows all. By default `--help` shows all. */
  readonly common?: readonly string[]
  /** Text below the options. */
  readonly notes?: string
  readonly examples?: readonly string[]
  readonly commands?: readonly CommandDefinition[]
  readonly run?: (words: readonly string[], given: GivenOptions) => Promise<void> | void
}

interface TypedCommand<Values> extends Omit<CommandDefinition, 'options' | 'run'> {
  /** The command that this one belongs to, such as `ca` of `ca create`. */
  readonly parent?: string
  readonly options: OptionTable<Values> & OptionRows
  readonly run: (words: readonly string[], values: Values, given: GivenOptions) => Promise<void> | void
}

/** Defines a command whose values come from the command line alone. */
export function defineCommand<Values>(command: TypedCommand<Values>): CommandDefinition {
  const { name, parent, options, run } = command
  const path = parent === undefined ? name : `${parent} ${name}`
  return {
    ...command,
    run: (words, given) => run(words, readOptions(options, given, { command: path }), given),
  }
}
