import { ReelayError } from '../errors.ts'
import { isObject, member } from '../wire/message.ts'
import type { MatchOptions } from './match-options.ts'
import { parseRule } from './rule.ts'
import { strategyNamed } from './strategies/index.ts'

/** What a settings file says about matching. */
export interface MatchSettings {
  readonly match?: string
  readonly rules: readonly string[]
}

/** Reads `{ strategy?, rules? }`, as it stands beside a tape or under `match` in a config file; `where` is for errors. */
export function readMatchSettings(value: unknown, where: string): MatchSettings {
  if (value === undefined || value === null) return { rules: [] }
  if (!isObject(value)) throw broken(where, 'it is no mapping')
  const odd = Object.keys(value).find((name) => name !== 'strategy' && name !== 'rules')
  if (odd !== undefined) throw broken(where, `it holds ${JSON.stringify(odd)}`)
  return { ...strategyIn(value, where), rules: rulesIn(member(value, 'rules') ?? [], where) }
}

/** The options of a run, then what stands beside the tape, then what the config says. */
export function withSettings(options: MatchOptions, ...settings: readonly MatchSettings[]): MatchOptions {
  const match = [options, ...settings].find((said) => said.match !== undefined)?.match
  const rules = [...(options.rules ?? []), ...settings.flatMap((said) => said.rules)]
  return { ...options, ...(match !== undefined && { match }), rules }
}

function strategyIn(value: unknown, where: string): Pick<MatchSettings, 'match'> {
  const name = member(value, 'strategy')
  if (name === undefined) return {}
  if (typeof name !== 'string') throw broken(where, '"strategy" is no text')
  return { match: inFile(where, () => strategyNamed(name).name) }
}

function rulesIn(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw broken(where, '"rules" is no list')
  return value.map((rule: unknown, place) => {
    if (typeof rule !== 'string') throw broken(where, `rule ${place + 1} is no text`)
    inFile(`${where}, rule ${place + 1}`, () => parseRule(rule))
    return rule
  })
}

function inFile<Result>(where: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const { code, message, hint } = error
    throw new ReelayError(code, `${where}: ${message}`, { ...(hint !== undefined && { hint }), cause: error })
  }
}

function broken(where: string, why: string): ReelayError {
  return new ReelayError('SETTINGS_INVALID', `the matching rules in ${where} cannot be read: ${why}`, {
    hint: 'write "strategy", a name, and "rules", a list of lines such as tools/call search params.arguments.date relative-date',
  })
}
