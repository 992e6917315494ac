import { formatPath, parsePath, type PathPattern, valueAtPath } from '../../json/path.ts'
import type { Comparison, RequestTimes } from '../comparisons/comparison.ts'
import { ignoreKind } from '../comparisons/ignore.ts'
import { relativeDateKind } from '../comparisons/relative-date.ts'
import { caseInsensitiveKind, trimKind } from '../comparisons/text.ts'
import { unorderedKind } from '../comparisons/unordered.ts'
import type { RequestUsage } from '../matcher.ts'
import type { RequestKind } from '../request-index.ts'
import type { NearestRequest, TapeLookup } from './nearest.ts'
import type { MissDiagnosis, MissContext } from './reasons.ts'
import { quoteShellWord, quoteTapeArgument } from '../../text.ts'
import type { SuggestedMatchOptions, MatchOptions } from '../options.ts'
import { isConsentPath } from '../request-key.ts'
import { type ClientCall } from '../../tape/turns.ts'
import type { MatchRule, MatchRuleScope } from '../rules.ts'
import { calledTool, toolOrPromptName } from '../../protocol/message.ts'

/** One way to have the request answered, ready to paste, and what else it would change. */
export interface Fix {
  /** Whether it holds from now on, for one run, or makes another tape. */
  readonly kind: 'store' | 'run' | 'record'
  readonly what: string
  readonly command: string
  readonly note?: string
}

interface FixContext extends RuleTrialContext {
  /** The tape as the user named it. */
  readonly tape: string
  /** The options of this run. */
  readonly given: MatchOptions
  /** How the user says these options: a command line, or a call of the library. */
  readonly commandFor: (loosening: SuggestedMatchOptions) => string
  /** How the tape was made, when it says. */
  readonly recordCommand?: () => string | undefined
}

/** Ways to accept a miss, the most exact first. Each was tried: none is given that would leave the request a miss. */
export function suggestFixes(asked: ClientCall, finding: MissDiagnosis, context: FixContext): readonly Fix[] {
  const run = (what: string, change: Partial<SuggestedMatchOptions>): readonly Fix[] => [
    { kind: 'run', what, command: context.commandFor({ ...givenOptions(context), ...change }) },
  ]
  if (finding.reason === 'EXHAUSTED') return run('repeat the last answer', { permissive: true })
  if (finding.reason === 'OUT_OF_ORDER') return run('accept any order', { match: 'method-and-params' })
  if (finding.onOtherServer !== undefined)
    return run('be that server', { server: finding.onOtherServer.server })
  const [top] = finding.nearest
  return [...(top === undefined ? [] : fixesForDifference(asked, top, context)), ...recordFixes(context)]
}

function recordFixes({ recordCommand }: FixContext): readonly Fix[] {
  const command = recordCommand?.()
  return command === undefined ? [] : [{ kind: 'record', what: 'record a new tape', command }]
}

function givenOptions({
  given: { match, rules = [], ignore = [], permissive = false },
}: FixContext): SuggestedMatchOptions {
  return { ...(match !== undefined && { match }), rules, ignore, permissive }
}

function fixesForDifference(asked: ClientCall, top: NearestRequest, context: FixContext): readonly Fix[] {
  const scope = ruleScopeOf(asked)
  const paths = pathsToIgnore(top)
  const ignored = paths.map((path): MatchRule => ({ ...scope, path, comparison: ignoreKind.parse('') }))
  const fitting = suggestRules(top, scope, { evidence: context.evidence, got: asked.params })
  const accepted = tryRules(asked, top, ignored, context)
  return [
    ...storedFixes(tryRules(asked, top, fitting, context), context),
    ...storedFixes(accepted, context),
    ...runFixes(accepted, paths, context),
  ]
}

function ruleScopeOf(asked: ClientCall): MatchRuleScope {
  const tool = calledTool(asked)
  return { method: asked.method, ...(tool !== undefined && { tool }) }
}

const MANY_DIFFERENCES = 6
const ARGUMENT_DEPTH = 3

// Many differing fields are named by the few arguments that hold them, so that the advice stays short enough to paste.
function pathsToIgnore({ differences }: NearestRequest): readonly PathPattern[] {
  const paths = differences.map(({ path }) => path)
  if (paths.some(isConsentPath)) return []
  if (paths.length <= MANY_DIFFERENCES) return paths
  const held = new Set(paths.map((path) => formatPath(path.slice(0, ARGUMENT_DEPTH))))
  return [...held].map(parsePath)
}

function storedFixes(found: RuleTrial | undefined, { tape, index }: FixContext): readonly Fix[] {
  if (found === undefined || (found.isShort && !index.permissive)) return []
  const { what, command } = matchAddCommands(tape, found.rules)
  return [{ kind: 'store', what, command, ...mergeNote(found) }]
}

/** The commands that store rules of one scope beside a tape, and what they do in a few words. */
function matchAddCommands(
  tape: string,
  rules: readonly MatchRule[],
): { readonly what: string; readonly command: string } {
  const kinds = [...new Set(rules.map(({ comparison }) => comparison.text))]
  return {
    what: `${kinds.map(describeComparison).join(', ')}, from now on`,
    command: kinds.map((kind) => matchAddCommand(tape, kind, rules)).join(' && '),
  }
}

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
  found: RuleTrial | undefined,
  paths: readonly PathPattern[],
  context: FixContext,
): readonly Fix[] {
  if (found === undefined) return []
  const given = givenOptions(context)
  const ignore = [...given.ignore, ...paths.map(formatPath)]
  const command = context.commandFor({ ...given, ignore, permissive: given.permissive || found.isShort })
  return [{ kind: 'run', what: 'for this run only', command, ...mergeNote(found) }]
}

function mergeNote({ merged }: RuleTrial): Pick<Fix, 'note'> {
  if (merged === 1) return {}
  return {
    note: `${merged} different recorded requests then count as the same and are answered in recorded order`,
  }
}

/** Rules that accept differences for what they seem to be; whether they are enough is for a trial to say. */
function suggestRules(
  { entry, differences }: NearestRequest,
  scope: MatchRuleScope,
  { evidence, got }: { evidence: TapeLookup; got: unknown },
): readonly MatchRule[] {
  const times = evidence.timesOf(entry)
  const sides = { recorded: { params: entry.request.params }, got: { params: got } }
  const found = differences.map(({ path }) => suggestRuleAt(path, sides, times))
  return distinctRules(found.flatMap((rule) => (rule === undefined ? [] : [{ ...scope, ...rule }])))
}

type Suggestion = Pick<MatchRule, 'path' | 'comparison'>

interface SuggestionSides {
  readonly recorded: unknown
  readonly got: unknown
}

// The nearest to equality first.
const VALUE_COMPARISONS: readonly Comparison[] = [trimKind, caseInsensitiveKind, relativeDateKind].map(
  (kind) => kind.parse(''),
)
const ARRAY_COMPARISONS: readonly Comparison[] = [unorderedKind.parse('')]

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
  const ofArray = array === undefined ? undefined : ARRAY_COMPARISONS.find(accepts(array))
  return array === undefined || ofArray === undefined ? undefined : { path: array, comparison: ofArray }
}

function distinctRules(rules: readonly MatchRule[]): readonly MatchRule[] {
  return [
    ...new Map(rules.map((rule) => [`${formatPath(rule.path)} ${rule.comparison.text}`, rule])).values(),
  ]
}

interface RuleTrialContext extends MissContext {
  /** How many earlier misses came nearest to a request, by its frame: they will want an answer too. */
  readonly claims: ReadonlyMap<number, number>
  /** The recorded requests that the same rules may govern; on a long tape to find them is work, to be done once. */
  readonly others: () => readonly RequestUsage[]
}

/** Rules under which the request has an answer, and what they change besides. */
interface RuleTrial {
  readonly rules: readonly MatchRule[]
  /** How many recorded requests, different until now, then count as the same. */
  readonly merged: number
  /** Whether there are fewer answers than requests that want them. */
  readonly isShort: boolean
}

/** Tries rules on a request that missed. Returns `undefined` if it would still be a miss. */
function tryRules(
  asked: ClientCall,
  { entry }: NearestRequest,
  rules: readonly MatchRule[],
  { matching, evidence, claims, index, others: governed }: RuleTrialContext,
): RuleTrial | undefined {
  const looser = matching.withRules(rules)
  const isAnswered = (other: RequestUsage): boolean =>
    looser.answers(other.request, asked, evidence.timesOf(other))
  if (rules.length === 0 || !isAnswered(entry)) return undefined
  const others = governed().filter(({ request }) => request.frame !== entry.request.frame)
  const merged = [entry, ...others.filter(isAnswered)]
  if (matching.strategy.inOrder && !merged.some(({ frame }) => frame === index.next()?.frame))
    return undefined
  const answers = sum(merged, (other) => other.answers)
  const wanted = sum(merged, (other) => other.used + (claims.get(other.request.frame) ?? 0)) + 1
  return { rules, merged: merged.length, isShort: wanted > answers }
}

const MOST_TRIED = 1_000

/** Finds the recorded requests of the same tool when they are first asked for. */
export function similarRequests(
  asked: ClientCall,
  index: RuleTrialContext['index'],
): RuleTrialContext['others'] {
  let found: readonly RequestUsage[] | undefined
  const accepts = ({ method, name }: RequestKind): boolean =>
    method === asked.method && name === toolOrPromptName(asked)
  return () => (found ??= index.entries({ accepts, like: asked }).slice(0, MOST_TRIED))
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}
