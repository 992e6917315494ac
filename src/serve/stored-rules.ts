import { formatRule, isInScope, parseRule, type Rule, type RuleScope } from '../match/rule.ts'
import { readMatchSettings } from '../match/settings.ts'
import { valuesAt } from '../match/value-at.ts'
import { readMatchFile, writeMatchRules } from '../store/match-file.ts'
import type { Tape } from '../store/read.ts'
import { calledIn } from '../tape/turn-store.ts'
import { formatPath, type Path } from '../wire/path.ts'

/** The rules beside a tape, and the file that holds them. */
export interface StoredRules {
  readonly path?: string
  readonly rules: readonly string[]
}

export async function storedRules(tapePath: string): Promise<StoredRules> {
  const file = await readMatchFile(tapePath)
  if (file === undefined) return { rules: [] }
  const { rules } = readMatchSettings(file.value, file.path)
  return { path: file.path, rules }
}

/** Puts rules beside a tape. A rule for the same place of the same requests gives way to the new one. */
export async function addRules(tapePath: string, rules: readonly Rule[]): Promise<string> {
  const before = (await storedRules(tapePath)).rules
  const kept = before.filter((text) => !rules.some((rule) => isForSamePlace(parseRule(text), rule)))
  const added = rules.map(formatRule).filter((text) => !kept.includes(text))
  return writeMatchRules(tapePath, [...kept, ...added])
}

/** Takes away the rules for a path; where a scope is given, only those of that scope. Returns what was taken away. */
export async function removeRules(
  tapePath: string,
  paths: readonly Path[],
  scope: RuleScope,
): Promise<readonly string[]> {
  const { rules } = await storedRules(tapePath)
  const meant = new Set(paths.map(formatPath))
  const gone = rules.filter((text) => {
    const rule = parseRule(text)
    return meant.has(formatPath(rule.path)) && isOfScope(rule, scope)
  })
  if (gone.length > 0)
    await writeMatchRules(
      tapePath,
      rules.filter((text) => !gone.includes(text)),
    )
  return gone
}

/** How many recorded requests have something that a rule is for. */
export function requestsUnder({ turns }: Pick<Tape, 'turns'>, rule: Rule): number {
  return turns.filter((turn) => {
    const called = turn.trigger?.message.kind === 'request' ? calledIn(turn) : undefined
    if (called === undefined || !isInScope(rule, called)) return false
    return valuesAt({ params: called.params }, rule.path).length > 0
  }).length
}

function isForSamePlace(a: Rule, b: Rule): boolean {
  return formatRule({ ...a, comparison: b.comparison }) === formatRule(b)
}

function isOfScope(rule: RuleScope, { server, method, tool }: RuleScope): boolean {
  if (server !== undefined && rule.server !== server) return false
  if (method !== undefined && rule.method !== method) return false
  return tool === undefined || rule.tool === tool
}
