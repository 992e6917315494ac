import { canonicalJson } from '../json/canonical.ts'
import { hashText } from '../json/hash.ts'
import { compareShapes } from '../schemas/observed-shape.ts'
import type { AcceptedFinding, Contract, ContractServer } from './contract-file.ts'
import { finding, isFailure, type Finding } from './rules.ts'
import { compareSurfaces } from './surface-changes.ts'

/** The result of checking a server or a tape against a contract. */
export interface ContractCheck {
  /** The contract file, and what was checked. */
  readonly contract: string
  readonly target: string
  readonly findings: readonly Finding[]
  readonly summary: ContractSummary
}

export interface ContractSummary {
  readonly breaking: number
  readonly security: number
  readonly unknown: number
  readonly other: number
  /** Findings that the contract accepts. They are not in the other counts. */
  readonly accepted: number
}

/** Compares what a contract says with what servers offer now. */
export function checkContract(
  { servers, accepted }: Contract,
  now: ReadonlyMap<string, ContractServer>,
  names: { readonly contract: string; readonly target: string },
): ContractCheck {
  const found: Finding[] = []
  for (const [name, server] of servers) {
    const other = now.get(name) ?? (servers.size === 1 && now.size === 1 ? [...now.values()][0] : undefined)
    const own =
      other === undefined ? [finding('server-missing', { subject: 'server' })] : serverChanges(server, other)
    found.push(
      ...own.map((each) => (servers.size === 1 ? each : { ...each, subject: `${name}: ${each.subject}` })),
    )
  }
  const findings = found.map((each) => withFingerprint(each, accepted))
  return { ...names, findings, summary: summaryOf(findings) }
}

function serverChanges(before: ContractServer, after: ContractServer): readonly Finding[] {
  const records = {
    calls: (tool: string) => before.recorded.get(tool)?.arguments ?? [],
    results: (tool: string) => before.recorded.get(tool)?.results ?? [],
  }
  const { findings } = compareSurfaces(before.surface, after.surface, records)
  return [...findings, ...observedFindings(before, after)]
}

/** Results that were never declared have a shape all the same. */
function observedFindings(before: ContractServer, after: ContractServer): readonly Finding[] {
  return [...before.recorded].flatMap(([tool, { observed }]) => {
    const now = after.recorded.get(tool)?.observed
    if (observed === undefined || now === undefined) return []
    return compareShapes(observed, now).map(({ kind, path, before: then, after: is }) =>
      finding(kind === 'lost' ? 'observed-field-lost' : 'observed-type-changed', {
        subject: `tool ${tool}`,
        path: `result ${path}`.trim(),
        message:
          kind === 'lost'
            ? `was ${then} recorded results, and is ${is}`
            : `was ${then} in ${observed.seen} recorded results, and is ${is}`,
      }),
    )
  })
}

function withFingerprint(found: Finding, accepted: readonly AcceptedFinding[]): Finding {
  const fingerprint = fingerprintOf(found)
  const known = accepted.find((each) => each.fingerprint === fingerprint)
  return { ...found, fingerprint, ...(known && { accepted: known.reason }) }
}

/** The same finding has the same fingerprint however its message is worded. Another value, such as a lower limit, is another finding. */
function fingerprintOf({ rule, subject, path, before, after, witness }: Finding): string {
  const { low, high } = hashText(
    canonicalJson([rule, subject, path ?? null, before ?? null, after ?? null, witness ?? null]),
  )
  return [high, low].map((half) => half.toString(16).padStart(8, '0')).join('')
}

function summaryOf(findings: readonly Finding[]): ContractSummary {
  const open = findings.filter(({ accepted }) => accepted === undefined)
  const count = (level: Finding['level']): number => open.filter((each) => each.level === level).length
  return {
    breaking: count('breaking'),
    security: count('security'),
    unknown: count('unknown'),
    other: open.filter(({ level }) => !isFailure(level) && level !== 'unknown').length,
    accepted: findings.length - open.length,
  }
}

/** Adds findings to those that a contract accepts. */
export function withAccepted(
  { accepted, ...contract }: Contract,
  more: readonly Finding[],
  reason: string,
): Contract {
  const known = new Set(accepted.map(({ fingerprint }) => fingerprint))
  const added = more.flatMap(({ fingerprint, rule, subject }) =>
    fingerprint === undefined || known.has(fingerprint) ? [] : [{ fingerprint, rule, subject, reason }],
  )
  return { ...contract, accepted: [...accepted, ...added] }
}
