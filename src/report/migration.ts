import { styleText } from 'node:util'
import { countClasses, type ClassedTurn, type Migration } from '../compare/migration.ts'
import {
  EXCHANGE_CLASSES,
  migrationRule,
  type ExchangeClass,
  type MigrationRuleId,
} from '../compare/migration-rules.ts'
import { exchangeLabel } from '../tape/turns.ts'
import { escapeControlChars, quoteTapeArgument } from '../text.ts'
import { findingFingerprint, type ReportDocument, type ReportItem } from './document.ts'
import type { DocumentContext } from './documents.ts'
import { exchangeTitle } from './exchanges.ts'
import { jsonDocument, jsonValue } from './json-text.ts'

/** What becomes of a tape in a revision of the other era. */
export interface TapeMigration extends Migration {
  readonly tape: string
}

/** A checklist: the rules that apply, the most serious class first, each with the exchanges and what to do. */
export function migrationAsText(report: TapeMigration): string {
  const { tape, from, to } = report
  const sections = [...EXCHANGE_CLASSES].toReversed().flatMap((becomes) => {
    const rules = rulesOf(report).filter(({ rule }) => migrationRule(rule).becomes === becomes)
    if (rules.length === 0) return []
    return [
      '',
      styleText('bold', HEADINGS[becomes]),
      ...rules.flatMap(({ rule, where }) => [
        `  ${rule}  ${migrationRule(rule).title}  ${styleText('dim', where)}`,
        `    ${migrationRule(rule).fix}`,
      ]),
    ]
  })
  const lines = [`${tape}, ${from.version} → ${to.version}`, ...sections, '', migrationSummary(report)]
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}

const HEADINGS: Readonly<Record<ExchangeClass, string>> = {
  'no equivalent': 'No equivalent',
  dropped: 'Dropped by the specification',
  translated: 'Translated',
  same: 'The same, but look at it',
}

/** `20 exchanges: 14 the same, 4 translated, 1 dropped by the specification, 1 without equivalent` */
function migrationSummary({ turns }: Pick<Migration, 'turns'>): string {
  const counts = countClasses(turns)
  const total = turns.filter(({ exchange }) => exchange !== undefined).length
  return `${total} ${total === 1 ? 'exchange' : 'exchanges'}: ${counts.same} the same, ${counts.translated} translated, ${counts.dropped} dropped by the specification, ${counts['no equivalent']} without equivalent`
}

/** The checklist in one line for each rule, for the report of a run. */
export function migrationNotes(report: Migration): readonly string[] {
  const { from, to } = report
  return [
    `from ${from.version} to ${to.version}: ${migrationSummary(report)}`,
    ...rulesOf(report).map(({ rule, where }) => {
      const { becomes, title } = migrationRule(rule)
      return `${becomes}: ${title} (${[rule, where].filter(Boolean).join(', ')})`
    }),
  ]
}

interface AppliedRule {
  readonly rule: MigrationRuleId
  /** The exchanges that it applies to; empty if it is about the connection. */
  readonly where: string
}

function rulesOf({ turns, connection }: Migration): readonly AppliedRule[] {
  const labels = new Map<MigrationRuleId, string[]>(connection.map((rule) => [rule, []]))
  for (const turn of turns)
    for (const rule of turn.rules) labels.set(rule, [...(labels.get(rule) ?? []), exchangeLabel(turn)])
  return [...labels].map(([rule, names]) => ({ rule, where: shortList(names) }))
}

function shortList(names: readonly string[]): string {
  const more = names.length - MOST_NAMES
  return more <= 0 ? names.join(', ') : `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more`
}

const MOST_NAMES = 8

export function migrationAsJson({ tape, from, to, turns, connection }: TapeMigration): string {
  return jsonDocument({
    tape: jsonValue(tape),
    from: jsonValue(from.version),
    to: jsonValue(to.version),
    summary: jsonValue(countClasses(turns)),
    connection: jsonValue(connection),
    turns: turns.map(jsonValue),
  })
}

/** An item for each exchange, and for each rule about the connection. */
export function migrationDocument(report: TapeMigration, context: DocumentContext): ReportDocument {
  const { tape, turns, connection } = report
  return {
    command: context.command,
    subject: tape,
    file: tape,
    verdict: turns.some(({ becomes }) => becomes === 'no equivalent') ? 'fail' : 'pass',
    summary: migrationSummary(report),
    notes: [],
    reproduce: context.commandLine,
    items: [
      ...turns.map((turn) => migrationItem(turn, tape)),
      ...connection.map((rule): ReportItem => ({
        name: migrationRule(rule).title,
        group: 'connection',
        status: 'warned',
        findings: [{ ...findingOf(rule, ''), severity: 'note' }],
      })),
    ],
  }
}

const STATUS_BY_CLASS: Readonly<Record<ExchangeClass, ReportItem['status']>> = {
  same: 'passed',
  translated: 'warned',
  dropped: 'warned',
  'no equivalent': 'failed',
}

function migrationItem(turn: ClassedTurn, tape: string): ReportItem {
  const { exchange, frame, method, target, becomes, rules } = turn
  const call = exchangeTitle(method, target)
  return {
    name: `${exchangeLabel(turn)} ${call}`,
    group: method,
    status: STATUS_BY_CLASS[becomes],
    line: frame + 1,
    findings: rules.map((rule) => findingOf(rule, call)),
    ...(exchange !== undefined && {
      exchange,
      reproduce: `reelay inspect ${quoteTapeArgument(tape)} ${exchange}`,
    }),
  }
}

function findingOf(rule: MigrationRuleId, call: string): ReportItem['findings'][number] {
  const { becomes, title } = migrationRule(rule)
  const severity = becomes === 'no equivalent' ? 'error' : becomes === 'same' ? 'note' : 'warning'
  return { rule, severity, message: title, fingerprint: findingFingerprint(rule, call) }
}
