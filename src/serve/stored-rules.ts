import { isOpeningMethod } from '../protocol/revisions/index.ts'
import {
  formatMatchRule,
  isRuleInScope,
  parseMatchRule,
  type MatchRule,
  type MatchRuleScope,
} from '../match/rules.ts'
import { readMatchSettings, type MatchOptions } from '../match/options.ts'
import { parseRequestPath } from '../match/request-key.ts'
import { jsonLeaves } from '../json/find-replace.ts'
import { readMatchFile, writeMatchRules } from '../store/companion-files.ts'
import type { Tape } from '../store/file/read.ts'
import { clientCallOf, type TurnStore } from '../tape/turns.ts'
import { formatPath, type PathPattern, valuesAtPattern } from '../json/path.ts'
import { suggestPath } from '../text.ts'

/** The rules beside a tape, and their file. */
interface StoredRules {
  readonly path?: string
  readonly rules: readonly string[]
}

export async function readStoredRules(tapePath: string): Promise<StoredRules> {
  const file = await readMatchFile(tapePath)
  if (file === undefined) return { rules: [] }
  const { rules } = readMatchSettings(file.value, file.path)
  return { path: file.path, rules }
}

/** Stores rules beside a tape. A new rule replaces one with the same scope and path. Returns the path of the file. */
export async function addStoredRules(tapePath: string, rules: readonly MatchRule[]): Promise<string> {
  const before = (await readStoredRules(tapePath)).rules
  const kept = before.filter((text) => !rules.some((rule) => hasSameScopeAndPath(parseMatchRule(text), rule)))
  const added = rules.map(formatMatchRule).filter((text) => !kept.includes(text))
  return writeMatchRules(tapePath, [...kept, ...added])
}

/** Removes the rules for some paths, within a scope if one is given. Returns the removed rules. */
export async function removeStoredRules(
  tapePath: string,
  paths: readonly PathPattern[],
  scope: MatchRuleScope,
): Promise<readonly string[]> {
  const { rules } = await readStoredRules(tapePath)
  const wanted = new Set(paths.map(formatPath))
  const removed = rules.filter((text) => {
    const rule = parseMatchRule(text)
    return wanted.has(formatPath(rule.path)) && isOfScope(rule, scope)
  })
  if (removed.length > 0)
    await writeMatchRules(
      tapePath,
      rules.filter((text) => !removed.includes(text)),
    )
  return removed
}

/** Counts the recorded requests that have a value at the path of a rule. */
export function countRequestsWithRule({ turns }: Pick<Tape, 'turns'>, rule: MatchRule): number {
  return turns.filter((turn) => {
    const called = turn.trigger?.message.kind === 'request' ? clientCallOf(turn.trigger) : undefined
    if (called === undefined || !isRuleInScope(rule, called)) return false
    return valuesAtPattern({ params: called.params }, rule.path).length > 0
  }).length
}

/** Says which rules and ignored paths of the command line match no value of a recorded request. */
export function unmatchedRules(
  turns: TurnStore,
  { rules = [], ignore = [] }: Pick<MatchOptions, 'rules' | 'ignore'>,
): readonly string[] {
  const open = new Map<string, Pick<MatchRule, 'path'> & MatchRuleScope>([
    ...rules.map((rule) => [`--rule ${JSON.stringify(rule)}`, parseMatchRule(rule)] as const),
    ...ignore.map((path) => [`--ignore ${path}`, { path: parseRequestPath(path) }] as const),
  ])
  const known = new Set<string>()
  for (let place = 0; place < Math.min(turns.size, MOST_SEARCHED) && open.size > 0; place++) {
    const called = turns.summary(place).trigger === 'request' ? clientCallOf(turns.trigger(place)) : undefined
    if (called === undefined) continue
    const root = { params: called.params }
    if (!isOpeningMethod(called.method))
      for (const { path } of jsonLeaves(JSON.stringify(root))) known.add(formatPath(path))
    for (const [name, rule] of open)
      if (isRuleInScope(rule, called) && valuesAtPattern(root, rule.path).length > 0) open.delete(name)
  }
  if (turns.size > MOST_SEARCHED) return []
  return [...open].map(
    ([name, { path }]) =>
      `${name}: no recorded request has a value there${suggestPath(formatPath(path), [...known])}`,
  )
}

// A client may be waiting for the first response.
const MOST_SEARCHED = 10_000

function hasSameScopeAndPath(a: MatchRule, b: MatchRule): boolean {
  return formatMatchRule({ ...a, comparison: b.comparison }) === formatMatchRule(b)
}

function isOfScope(rule: MatchRuleScope, { server, method, tool }: MatchRuleScope): boolean {
  if (server !== undefined && rule.server !== server) return false
  if (method !== undefined && rule.method !== method) return false
  return tool === undefined || rule.tool === tool
}
