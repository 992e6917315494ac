import { formatPath, parsePath, type PathPattern, valueAtPath } from '../../json/path.ts'
import { calledTool, toolOrPromptName } from '../../protocol/message.ts'
import type { ClientCall } from '../../tape/turns.ts'
import { quoteShellWord, quoteTapeArgument } from '../../text.ts'
import type { Comparison, RequestTimes } from '../comparisons/comparison.ts'
import type { Matcher, RequestUsage } from '../matcher.ts'
import type { SuggestedMatchOptions, MatchOptions } from '../options.ts'
import type { RequestKind } from '../request-index.ts'
import { isConsentPath } from '../request-key.ts'
import { parseComparison, type MatchRule, type MatchRuleScope } from '../rules.ts'
import type { NearestRequest, TapeLookup } from './nearest.ts'
import type { MissDiagnosis, MissContext } from './reasons.ts'

/** A command, ready to paste, that would make the tape answer a request. */
export interface Fix {
  /** `store` keeps a rule beside the tape, `run` applies to one run, `record` makes a new tape. */
  readonly kind: 'store' | 'run' | 'record'
  readonly what: string
  readonly command: string
  /** A side effect of the fix. */
  readonly note?: string
}

export interface FixOptions {
  /** The tape as the user named it. */
  readonly tape: string
  /** The options of this run. */
  readonly given?: MatchOptions
  /** Writes these options as a command line or as a call of the library. Returns `undefined` if they cannot be given to a single run. */
  readonly commandFor: (options: SuggestedMatchOptions) => string | undefined
  /** The command that records the tape again. Returns `undefined` if the tape does not contain it. */
  readonly recordCommand?: () => string | undefined
}

interface FixContext extends MissContext, FixOptions {
  /** How many earlier misses came nearest to a recorded request, by its frame. They need answers too. */
  readonly claims: ReadonlyMap<number, number>
}

/**
 * Suggests ways to answer a request that missed. Only rules that were tried successfully are suggested. The most exact one is first,
 * and a rule that ignores a difference from now on is last, because later differences there would not be noticed either.
 */
export function suggestFixes(
  request: ClientCall,
  { reason, nearest: [nearest], onOtherServer }: MissDiagnosis,
  context: FixContext,
): readonly Fix[] {
  const run = (what: string, change: Partial<SuggestedMatchOptions>): readonly Fix[] =>
    fixForRun(what, context.commandFor({ ...currentOptions(context), ...change }))
  if (reason === 'EXHAUSTED') return run('repeat the last response', { permissive: true })
  if (reason === 'OUT_OF_ORDER') return run('accept any order', { match: 'method-and-params' })
  if (onOtherServer !== undefined) return run('serve that server', { server: onOtherServer.server })
  const command = context.recordCommand?.()
  const again: readonly Fix[] =
    command === undefined ? [] : [{ kind: 'record', what: 'record it again', command }]
  if (nearest === undefined) return again
  const { fitting, forRun, ignoring } = fixesForDifference(request, nearest, context)
  return [...fitting, ...forRun, ...again, ...ignoring]
}

function fixForRun(what: string, command: string | undefined): readonly Fix[] {
  return command === undefined ? [] : [{ kind: 'run', what, command }]
}

function currentOptions({ given = {} }: FixContext): SuggestedMatchOptions {
  const { match, rules = [], ignore = [], permissive = false } = given
  return { ...(match !== undefined && { match }), rules, ignore, permissive }
}

function fixesForDifference(
  request: ClientCall,
  nearest: NearestRequest,
  context: FixContext,
): Readonly<Record<'fitting' | 'forRun' | 'ignoring', readonly Fix[]>> {
  const tool = calledTool(request)
  const scope: MatchRuleScope = { method: request.method, ...(tool !== undefined && { tool }) }
  const paths = pathsToIgnore(nearest)
  const ignoring = paths.map((path): MatchRule => ({ ...scope, path, comparison: parseComparison('ignore') }))
  const fitting = suggestRules(nearest, scope, { lookup: context.lookup, got: request.params })
  const similar = similarRequests(request, context.matcher)
  const [fittingTrial, ignoringTrial] = [fitting, ignoring].map((rules) =>
    tryRules(request, nearest, rules, { ...context, similar }),
  )
  return {
    fitting: storedFixes(fittingTrial, context),
    forRun: runFixes(ignoringTrial, paths, context),
    ignoring: storedFixes(ignoringTrial, context),
  }
}

const MANY_DIFFERENCES = 6
const ARGUMENT_DEPTH = 3

// If many fields differ, the arguments that contain them are ignored instead, so that the command stays short.
function pathsToIgnore({ differences }: NearestRequest): readonly PathPattern[] {
  const paths = differences.map(({ path }) => path)
  if (paths.some(isConsentPath)) return []
  if (paths.length <= MANY_DIFFERENCES) return paths
  const parents = new Set(paths.map((path) => formatPath(path.slice(0, ARGUMENT_DEPTH))))
  return [...parents].map(parsePath)
}

function storedFixes(trial: RuleTrial | undefined, { tape, matcher }: FixContext): readonly Fix[] {
  if (trial === undefined || (trial.isShort && !matcher.permissive)) return []
  const kinds = [...new Set(trial.rules.map(({ comparison }) => comparison.text))]
  const what = `${kinds.map(describeComparison).join(', ')}, from now on`
  const command = kinds.map((kind) => matchAddCommand(tape, kind, trial.rules)).join(' && ')
  return [{ kind: 'store', what, command, ...mergeNote(trial) }]
}

/** The command that stores the rules of one kind beside a tape. */
function matchAddCommand(tape: string, kind: string, all: readonly MatchRule[]): string {
  const rules = all.filter(({ comparison }) => comparison.text === kind)
  return [
    'reelay match add',
    quoteTapeArgument(tape),
    ...rules.map(({ path }) => quoteShellWord(formatPath(path))),
    '--as',
    quoteShellWord(kind),
    ...scopeFlags(rules[0]),
  ].join(' ')
}

function scopeFlags(rule: MatchRule | undefined): readonly string[] {
  if (rule?.tool !== undefined) return ['--tool', quoteShellWord(rule.tool)]
  return rule?.method === undefined ? [] : ['--method', quoteShellWord(rule.method)]
}

function describeComparison(kind: string): string {
  return kind === 'ignore' ? 'ignore the difference' : `compare as ${kind}`
}

function runFixes(
  trial: RuleTrial | undefined,
  paths: readonly PathPattern[],
  context: FixContext,
): readonly Fix[] {
  if (trial === undefined) return []
  const current = currentOptions(context)
  const ignore = [...current.ignore, ...paths.map(formatPath)]
  const command = context.commandFor({ ...current, ignore, permissive: current.permissive || trial.isShort })
  return fixForRun('for this run only', command).map((fix) => ({ ...fix, ...mergeNote(trial) }))
}

function mergeNote({ merged }: RuleTrial): Pick<Fix, 'note'> {
  if (merged === 1) return {}
  return {
    note: `${merged} different recorded requests then match each other and are used in recorded order`,
  }
}

/** Rules that fit the kinds of the differences. They may not be enough, so they must be tried. */
function suggestRules(
  { entry, differences }: NearestRequest,
  scope: MatchRuleScope,
  { lookup, got }: { lookup: TapeLookup; got: unknown },
): readonly MatchRule[] {
  const times = lookup.timesOf(entry)
  const sides = { recorded: { params: entry.request.params }, got: { params: got } }
  const found = differences.map(({ path }) => suggestRuleAt(path, sides, times))
  return distinctRules(found.flatMap((rule) => (rule === undefined ? [] : [{ ...scope, ...rule }])))
}

type Suggestion = Pick<MatchRule, 'path' | 'comparison'>

interface SuggestionSides {
  readonly recorded: unknown
  readonly got: unknown
}

// The strictest comparison comes first.
const VALUE_COMPARISONS = ['trim', 'case-insensitive', 'relative-date'].map(parseComparison)
const ARRAY_COMPARISON = parseComparison('unordered')

function suggestRuleAt(
  path: PathPattern,
  sides: SuggestionSides,
  times: RequestTimes,
): Suggestion | undefined {
  const accepts = (at: PathPattern) => (comparison: Comparison) =>
    comparison.distance(valueAtPath(sides.recorded, at), valueAtPath(sides.got, at), times) !== undefined
  const comparison = VALUE_COMPARISONS.find(accepts(path))
  if (comparison !== undefined) return { path, comparison }
  const array = typeof path.at(-1) === 'number' ? path.slice(0, -1) : undefined
  if (array === undefined || !accepts(array)(ARRAY_COMPARISON)) return undefined
  return { path: array, comparison: ARRAY_COMPARISON }
}

function distinctRules(rules: readonly MatchRule[]): readonly MatchRule[] {
  return [
    ...new Map(rules.map((rule) => [`${formatPath(rule.path)} ${rule.comparison.text}`, rule])).values(),
  ]
}

/** Rules under which the request has an answer, and their side effects. */
interface RuleTrial {
  readonly rules: readonly MatchRule[]
  /** The number of different recorded requests that match each other under these rules. */
  readonly merged: number
  /** True if there are fewer answers than requests that need them. */
  readonly isShort: boolean
}

/** Tries rules on a request that missed. Returns `undefined` if it would still be a miss. */
function tryRules(
  live: ClientCall,
  { entry }: NearestRequest,
  rules: readonly MatchRule[],
  {
    comparer,
    lookup,
    claims,
    matcher,
    similar,
  }: FixContext & { readonly similar: () => readonly RequestUsage[] },
): RuleTrial | undefined {
  const looser = comparer.withRules(rules)
  const isAnswer = (usage: RequestUsage): boolean =>
    looser.answers(usage.request, live, lookup.timesOf(usage))
  if (rules.length === 0 || !isAnswer(entry)) return undefined
  const others = similar().filter(({ request }) => request.frame !== entry.request.frame)
  const merged = [entry, ...others.filter(isAnswer)]
  if (comparer.strategy.inOrder && !merged.some(({ frame }) => frame === matcher.next()?.frame))
    return undefined
  const answers = sum(merged, (usage) => usage.answers)
  const needed = sum(merged, ({ used, request }) => used + (claims.get(request.frame) ?? 0)) + 1
  return { rules, merged: merged.length, isShort: needed > answers }
}

const MOST_TRIED = 1_000

/** Finds the recorded requests that the same rules apply to. They are searched once, because it is slow on a long tape. */
function similarRequests(request: ClientCall, matcher: Matcher): () => readonly RequestUsage[] {
  let found: readonly RequestUsage[] | undefined
  const accepts = ({ method, name }: RequestKind): boolean =>
    method === request.method && name === toolOrPromptName(request)
  return () => (found ??= matcher.entries({ accepts, like: request }).slice(0, MOST_TRIED))
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}
