import { ReelayError } from '../errors.ts'
import { RequestComparer } from './request-comparer.ts'
import { parseRequestPath } from './request-key.ts'
import { parseComparison, parseMatchRule, type MatchRule } from './rules.ts'
import { findStrategy } from './strategies/index.ts'
import { isObject, member } from '../json/parse.ts'

/** How live requests are matched with recorded ones. */
export interface MatchOptions {
  /** `method-and-params` (the default), `exact`, `method`, `subset` (also called `fuzzy`), `sequential` or `next`. */
  readonly match?: string
  /** Rules for parts of requests, such as `tools/call search params.arguments.date relative-date`. */
  readonly rules?: readonly string[]
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Repeats the last response when all recorded responses of a request are used. Otherwise this is a miss. */
  readonly permissive?: boolean
}

/** Parses the options. Of two rules for the same path, the first one applies. */
export function createComparer({ match, rules = [], ignore = [] }: MatchOptions): RequestComparer {
  const ignored = ignore.map((path): MatchRule => ({
    path: parseRequestPath(path),
    comparison: parseComparison('ignore'),
  }))
  return new RequestComparer(match === undefined ? undefined : findStrategy(match), [
    ...ignored,
    ...rules.map(parseMatchRule),
  ])
}

/** Options under which a request that missed is answered. */
export interface SuggestedMatchOptions extends MatchOptions {
  readonly rules: readonly string[]
  readonly ignore: readonly string[]
  readonly permissive: boolean
  /** Another server of the tape. */
  readonly server?: string
}

/** The match settings of a file. */
export interface MatchSettings {
  readonly match?: string
  readonly rules: readonly string[]
}

/** Reads `{ strategy?, rules? }` from the file beside a tape or from `match` in a config. `where` is for error messages. */
export function readMatchSettings(value: unknown, where: string): MatchSettings {
  if (value === undefined || value === null) return { rules: [] }
  if (!isObject(value)) throw invalidMatchSettings(where, 'it is not a mapping')
  const odd = Object.keys(value).find((name) => name !== 'strategy' && name !== 'rules')
  if (odd !== undefined) throw invalidMatchSettings(where, `unknown key ${JSON.stringify(odd)}`)
  return { ...strategyIn(value, where), rules: rulesIn(member(value, 'rules') ?? [], where) }
}

/** Merges the options of a run with settings of lower priority, such as the file beside the tape and the config. */
export function mergeMatchSettings(
  options: MatchOptions,
  ...settings: readonly MatchSettings[]
): MatchOptions {
  const match = [options, ...settings].find((each) => each.match !== undefined)?.match
  const rules = [...(options.rules ?? []), ...settings.flatMap((each) => each.rules)]
  return { ...options, ...(match !== undefined && { match }), rules }
}

function strategyIn(value: unknown, where: string): Pick<MatchSettings, 'match'> {
  const name = member(value, 'strategy')
  if (name === undefined) return {}
  if (typeof name !== 'string') throw invalidMatchSettings(where, '"strategy" is not a string')
  return { match: withFileInError(where, () => findStrategy(name).name) }
}

function rulesIn(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw invalidMatchSettings(where, '"rules" is not a list')
  return value.map((rule: unknown, place) => {
    if (typeof rule !== 'string') throw invalidMatchSettings(where, `rule ${place + 1} is not a string`)
    withFileInError(`${where}, rule ${place + 1}`, () => parseMatchRule(rule))
    return rule
  })
}

function withFileInError<Result>(where: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    const { code, message, hint } = error
    throw new ReelayError(code, `${where}: ${message}`, { ...(hint !== undefined && { hint }), cause: error })
  }
}

function invalidMatchSettings(where: string, why: string): ReelayError {
  return new ReelayError('SETTINGS_INVALID', `invalid matching rules in ${where}: ${why}`, {
    hint: 'use the keys "strategy", a name, and "rules", a list of lines such as tools/call search params.arguments.date relative-date',
  })
}
