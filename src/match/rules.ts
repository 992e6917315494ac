import { suggestName } from '../text.ts'
import { parseJson } from '../json/parse.ts'
import { formatPath, type PathPattern, EVERY_ITEM } from '../json/path.ts'
import { invalidMatchRule, type Comparison } from './comparisons/comparison.ts'
import { COMPARISON_KINDS } from './comparisons/index.ts'
import { calledTool } from '../protocol/message.ts'
import { parseRequestPath } from './request-key.ts'
import { type ClientCall } from '../tape/turns.ts'

/** Says how the values at one path of some requests are compared. */
export interface MatchRule extends MatchRuleScope {
  readonly path: PathPattern
  readonly comparison: Comparison
}

/** The requests that a rule applies to: all, or those of one server, method or tool. */
export interface MatchRuleScope {
  readonly server?: string
  readonly method?: string
  readonly tool?: string
}

/** Parses `tools/call search params.arguments.date relative-date`. The words before the path are optional. */
export function parseMatchRule(text: string): MatchRule {
  const { scope = '', path, as = '' } = RULE_PATTERN.exec(text.trim())?.groups ?? {}
  if (path === undefined)
    throw invalidMatchRule(
      `${JSON.stringify(text)} has no path that starts with "params", or no comparison after it`,
    )
  return { ...parseScope(scope.trim(), text), path: parseRequestPath(path), comparison: parseComparison(as) }
}

/** Formats a rule so that `parseMatchRule` can read it. */
export function formatMatchRule({ server, method, tool, path, comparison }: MatchRule): string {
  const words = [
    server === undefined ? undefined : `server=${quoteName(server)}`,
    method === undefined ? undefined : quoteName(method),
    tool === undefined ? undefined : quoteName(tool),
    formatPath(path),
    comparison.text,
  ]
  return words.filter((word) => word !== undefined).join(' ')
}

export function parseComparison(text: string): Comparison {
  const [name = ''] = text.split(' ', 1)
  const kind = COMPARISON_KINDS.find((candidate) => candidate.name === name)
  if (kind !== undefined) return kind.parse(text.slice(name.length).trim())
  const known = COMPARISON_KINDS.map(({ usage }) => usage).join(', ')
  const guess = suggestName(
    name,
    COMPARISON_KINDS.map((each) => each.name),
  )
  throw invalidMatchRule(`unknown comparison ${JSON.stringify(name)}${guess}`, `the kinds are: ${known}`)
}

export function isRuleInScope({ server, method, tool }: MatchRuleScope, request: ClientCall): boolean {
  if (server !== undefined && server !== request.server) return false
  if (method !== undefined && method !== request.method) return false
  return tool === undefined || tool === calledTool(request)
}

const STEP_PATTERN = String.raw`(?:\.[^.[\]"*\s]+|\[(?:\d+|\*|"(?:[^"\\]|\\.)*")\])`
const WORD_PATTERN = String.raw`(?:server=)?(?:"(?:[^"\\]|\\.)*"|[^\s"]\S*)`
const RULE_PATTERN = new RegExp(
  String.raw`^(?<scope>(?:${WORD_PATTERN}\s+){0,3}?)(?<path>params${STEP_PATTERN}*)\s+(?<as>\S.*)$`,
)

/** Writes a name as JSON if it could be mistaken for another part of the rule. */
function quoteName(name: string): string {
  return /^[^\s"]\S*$/.test(name) && !/^(?:params|server=)/.test(name) ? name : JSON.stringify(name)
}

function unquoteName(word: string): string {
  const name: unknown = word.startsWith('"') ? parseJson(word) : word
  if (typeof name === 'string') return name
  throw invalidMatchRule(`${word} is not a valid name`, 'write a name in quotes as a JSON string')
}

function parseScope(text: string, rule: string): MatchRuleScope {
  const words = text.match(new RegExp(WORD_PATTERN, 'g')) ?? []
  const named = words[0]?.startsWith('server=') ? words.shift()?.slice('server='.length) : undefined
  const server = named === undefined ? undefined : unquoteName(named)
  const [method, tool, ...more] = words.map(unquoteName)
  if (more.length > 0 || (tool !== undefined && method !== 'tools/call'))
    throw invalidMatchRule(
      `${JSON.stringify(rule)} has ${JSON.stringify(text)} before its path`,
      'only a server, a method and, after tools/call, a tool may come before the path: server=github tools/call search',
    )
  return { ...(server && { server }), ...(method && { method }), ...(tool && { tool }) }
}

/** The rules that apply to a request. */
export interface ScopedRules {
  readonly ignore: readonly PathPattern[]
  /** The rules with a comparison. Of several for the same path, the first one applies. */
  readonly governing: readonly MatchRule[]
}

/** Finds the rules that apply to a request. */
export class MatchRules {
  readonly rules: readonly MatchRule[]
  readonly #inScope = new Map<string, ScopedRules>()

  constructor(rules: readonly MatchRule[]) {
    this.rules = rules
  }

  for(request: ClientCall): ScopedRules {
    if (this.rules.length === 0) return NO_RULES
    const key = JSON.stringify([request.server, request.method, calledTool(request)])
    const known = this.#inScope.get(key)
    if (known !== undefined) return known
    const found = selectRules(this.rules, request)
    // A hostile client may send any number of names.
    if (this.#inScope.size < MOST_SCOPES) this.#inScope.set(key, found)
    return found
  }
}

const NO_RULES: ScopedRules = { ignore: [], governing: [] }
const MOST_SCOPES = 1_000

function selectRules(all: readonly MatchRule[], request: ClientCall): ScopedRules {
  const rules = all.filter((rule) => isRuleInScope(rule, request))
  return {
    ignore: rules.filter(({ comparison }) => comparison.ignoresValue).map(({ path }) => path),
    governing: rules.filter(({ comparison }) => !comparison.ignoresValue),
  }
}

/** The comparison for a path. Returns `undefined` if the values must be equal. */
export function comparisonAt({ governing }: ScopedRules, place: PathPattern): Comparison | undefined {
  return governing.find(({ path }) => pathMatches(path, place))?.comparison
}

function pathMatches(path: PathPattern, place: PathPattern): boolean {
  return path.length === place.length && path.every((segment, depth) => segmentMatches(segment, place[depth]))
}

function segmentMatches(segment: PathPattern[number], place: PathPattern[number] | undefined): boolean {
  return segment === place || (segment === EVERY_ITEM && typeof place === 'number')
}
