import { ReelayError } from '../errors.ts'
import { ignoreKind } from './comparisons/ignore.ts'
import { RequestComparer } from './request-comparer.ts'
import { parseIgnoredPaths } from './request-key.ts'
import { parseMatchRule, type MatchRule } from './rules.ts'
import { findStrategy } from './strategies/index.ts'
import { isObject, member } from '../json/parse.ts'

/** How live requests are matched with recorded ones. */
export interface MatchOptions {
  /** `method-and-params` (the default), `exact`, `method`, `subset` (also called `fuzzy`) or `sequential`. */
  readonly match?: string
  /** Rules for parts of requests, such as `tools/call search params.arguments.date relative-date`. */
  readonly rules?: readonly string[]
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. Without it, a spent request is a miss. */
  readonly permissive?: boolean
}

/** Reads the options; of two rules for one place the first holds. */
export function createComparer({ match, rules = [], ignore = [] }: MatchOptions): RequestComparer {
  const ignored = parseIgnoredPaths(ignore).map((path): MatchRule => ({
    path,
    comparison: ignoreKind.parse(''),
  }))
  return new RequestComparer(match === undefined ? undefined : findStrategy(match), [
    ...ignored,
    ...rules.map(parseMatchRule),
  ])
}

/** The options under which a request that missed would have been answered. */
export interface SuggestedMatchOptions extends MatchOptions {
  readonly rules: readonly string[]
  readonly ignore: readonly string[]
  readonly permissive: boolean
  /** Another server of the tape. */
  readonly server?: string
}

/** What a settings file says about matching. */
export interface MatchSettings {
  readonly match?: string
  readonly rules: readonly string[]
}

/** Reads `{ strategy?, rules? }`, as it stands beside a tape or under `match` in a config file; `where` is for errors. */
export function readMatchSettings(value: unknown, where: string): MatchSettings {
  if (value === undefined || value === null) return { rules: [] }
  if (!isObject(value)) throw invalidMatchSettings(where, 'it is no mapping')
  const odd = Object.keys(value).find((name) => name !== 'strategy' && name !== 'rules')
  if (odd !== undefined) throw invalidMatchSettings(where, `it holds ${JSON.stringify(odd)}`)
  return { ...strategyIn(value, where), rules: rulesIn(member(value, 'rules') ?? [], where) }
}

/** The options of a run, then what stands beside the tape, then what the config says. */
export function mergeMatchSettings(
  options: MatchOptions,
  ...settings: readonly MatchSettings[]
): MatchOptions {
  const match = [options, ...settings].find((said) => said.match !== undefined)?.match
  const rules = [...(options.rules ?? []), ...settings.flatMap((said) => said.rules)]
  return { ...options, ...(match !== undefined && { match }), rules }
}

function strategyIn(value: unknown, where: string): Pick<MatchSettings, 'match'> {
  const name = member(value, 'strategy')
  if (name === undefined) return {}
  if (typeof name !== 'string') throw invalidMatchSettings(where, '"strategy" is no text')
  return { match: withFileInError(where, () => findStrategy(name).name) }
}

function rulesIn(value: unknown, where: string): readonly string[] {
  if (!Array.isArray(value)) throw invalidMatchSettings(where, '"rules" is no list')
  return value.map((rule: unknown, place) => {
    if (typeof rule !== 'string') throw invalidMatchSettings(where, `rule ${place + 1} is no text`)
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
  return new ReelayError('SETTINGS_INVALID', `the matching rules in ${where} cannot be read: ${why}`, {
    hint: 'write "strategy", a name, and "rules", a list of lines such as tools/call search params.arguments.date relative-date',
  })
}
