import { formatPath, parsePath, type Path } from '../wire/path.ts'
import { toolOf } from './brief.ts'
import { ignoreKind } from './comparisons/ignore.ts'
import type { Asked } from './key.ts'
import type { Loosening } from './loosening.ts'
import { matchAddCommands } from './match-add-command.ts'
import type { MatchOptions } from './match-options.ts'
import type { Finding } from './finding.ts'
import type { Candidate } from './nearest.ts'
import { isGuarded } from './request-path.ts'
import type { Rule, RuleScope } from './rule.ts'
import { fittingRules } from './suggested-rules.ts'
import { tried, type TrialContext, type Tried } from './tried-rules.ts'

/** One way to have the request answered, ready to paste, and what else it would change. */
export interface Fix {
  /** Whether it holds from now on, for one run, or makes another tape. */
  readonly kind: 'store' | 'run' | 'record'
  readonly what: string
  readonly command: string
  readonly note?: string
}

export interface FixContext extends TrialContext {
  /** The tape as the user named it. */
  readonly tape: string
  /** The options of this run. */
  readonly given: MatchOptions
  /** How the user says these options: a command line, or a call of the library. */
  readonly commandFor: (loosening: Loosening) => string
  /** How the tape was made, when it says. */
  readonly recordCommand?: () => string | undefined
}

/** Ways to accept a miss, the most exact first. Each was tried: none is given that would leave the request a miss. */
export function fixesFor(asked: Asked, finding: Finding, context: FixContext): readonly Fix[] {
  const run = (what: string, change: Partial<Loosening>): readonly Fix[] => [
    { kind: 'run', what, command: context.commandFor({ ...givenIn(context), ...change }) },
  ]
  if (finding.reason === 'EXHAUSTED') return run('repeat the last answer', { permissive: true })
  if (finding.reason === 'OUT_OF_ORDER') return run('accept any order', { match: 'method-and-params' })
  if (finding.elsewhere !== undefined) return run('be that server', { server: finding.elsewhere.server })
  const [top] = finding.nearest
  return [...(top === undefined ? [] : acceptDifference(asked, top, context)), ...recordAgain(context)]
}

function recordAgain({ recordCommand }: FixContext): readonly Fix[] {
  const command = recordCommand?.()
  return command === undefined ? [] : [{ kind: 'record', what: 'record a new tape', command }]
}

function givenIn({ given: { match, rules = [], ignore = [], permissive = false } }: FixContext): Loosening {
  return { ...(match !== undefined && { match }), rules, ignore, permissive }
}

function acceptDifference(asked: Asked, top: Candidate, context: FixContext): readonly Fix[] {
  const scope = scopeOf(asked)
  const paths = pathsToIgnore(top)
  const ignored = paths.map((path): Rule => ({ ...scope, path, comparison: ignoreKind.parse('') }))
  const fitting = fittingRules(top, scope, { evidence: context.evidence, got: asked.params })
  const accepted = tried(asked, top, ignored, context)
  return [
    ...lasting(tried(asked, top, fitting, context), context),
    ...lasting(accepted, context),
    ...forThisRun(accepted, paths, context),
  ]
}

function scopeOf(asked: Asked): RuleScope {
  const tool = toolOf(asked)
  return { method: asked.method, ...(tool !== undefined && { tool }) }
}

const MANY = 6
const ARGUMENT_DEPTH = 3

// Many differing fields are named by the few arguments that hold them, so that the advice stays short enough to paste.
function pathsToIgnore({ differences }: Candidate): readonly Path[] {
  const paths = differences.map(({ path }) => path)
  if (paths.some(isGuarded)) return []
  if (paths.length <= MANY) return paths
  const held = new Set(paths.map((path) => formatPath(path.slice(0, ARGUMENT_DEPTH))))
  return [...held].map(parsePath)
}

function lasting(found: Tried | undefined, { tape, index }: FixContext): readonly Fix[] {
  if (found === undefined || (found.isShort && !index.permissive)) return []
  const { what, command } = matchAddCommands(tape, found.rules)
  return [{ kind: 'store', what, command, ...noteOn(found) }]
}

function forThisRun(found: Tried | undefined, paths: readonly Path[], context: FixContext): readonly Fix[] {
  if (found === undefined) return []
  const given = givenIn(context)
  const ignore = [...given.ignore, ...paths.map(formatPath)]
  const command = context.commandFor({ ...given, ignore, permissive: given.permissive || found.isShort })
  return [{ kind: 'run', what: 'for this run only', command, ...noteOn(found) }]
}

function noteOn({ merged }: Tried): Pick<Fix, 'note'> {
  if (merged === 1) return {}
  return {
    note: `${merged} different recorded requests then count as the same and are answered in recorded order`,
  }
}
