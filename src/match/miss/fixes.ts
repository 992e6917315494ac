import { formatPath, parsePath, type PathPattern } from '../../json/path.ts'
import { calledTool } from '../describe-request.ts'
import { ignoreKind } from '../comparisons/ignore.ts'
import type { RequestContent } from '../request-key.ts'
import type { SuggestedMatchOptions } from '../loosening.ts'
import { matchAddCommands } from './shell-command.ts'
import type { MatchOptions } from '../options.ts'
import type { MissDiagnosis } from '../finding.ts'
import type { NearestRequest } from './nearest.ts'
import { isConsentPath } from '../request-path.ts'
import type { MatchRule, MatchRuleScope } from '../rules.ts'
import { suggestRules } from '../suggested-rules.ts'
import { tryRules, type RuleTrialContext, type RuleTrial } from '../tried-rules.ts'

/** One way to have the request answered, ready to paste, and what else it would change. */
export interface Fix {
  /** Whether it holds from now on, for one run, or makes another tape. */
  readonly kind: 'store' | 'run' | 'record'
  readonly what: string
  readonly command: string
  readonly note?: string
}

export interface FixContext extends RuleTrialContext {
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
export function suggestFixes(
  asked: RequestContent,
  finding: MissDiagnosis,
  context: FixContext,
): readonly Fix[] {
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

function fixesForDifference(asked: RequestContent, top: NearestRequest, context: FixContext): readonly Fix[] {
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

function ruleScopeOf(asked: RequestContent): MatchRuleScope {
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
