import {
  formatMatchRule,
  isRuleInScope,
  parseMatchRule,
  type MatchRule,
  type MatchRuleScope,
} from '../match/rules.ts'
import { readMatchSettings } from '../match/options.ts'
import { readMatchFile, writeMatchRules } from '../store/companion-files.ts'
import type { Tape } from '../store/file/read.ts'
import { clientCallOf } from '../tape/turns.ts'
import { formatPath, type PathPattern, valuesAtPattern } from '../json/path.ts'

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

function hasSameScopeAndPath(a: MatchRule, b: MatchRule): boolean {
  return formatMatchRule({ ...a, comparison: b.comparison }) === formatMatchRule(b)
}

function isOfScope(rule: MatchRuleScope, { server, method, tool }: MatchRuleScope): boolean {
  if (server !== undefined && rule.server !== server) return false
  if (method !== undefined && rule.method !== method) return false
  return tool === undefined || rule.tool === tool
}
