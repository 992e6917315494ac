import type { ContractCheck } from '../compare/check-contract.ts'
import type { ExchangeChange, TapeDiff } from '../compare/diff-tapes.ts'
import { isFailure, type Finding } from '../compare/rules.ts'
import type { CoverageReport, CoveredItem, ServerCoverage } from '../compare/coverage.ts'
import type { CoverageKind } from '../compare/coverage-calls.ts'
import type { RepeatedReport } from '../replay/repeat/repeated-report.ts'
import { isSkippedByRule } from '../replay/steps/run-totals.ts'
import { hasFailed, type ReplayStep, type StepFinding } from '../replay/steps/step.ts'
import { exchangeLabel } from '../tape/turns.ts'
import { quoteTapeArgument } from '../text.ts'
import { callCommandLine, coverageSummary, gapsText, pathText } from './coverage.ts'
import {
  findingFingerprint,
  lazily,
  type FindingSeverity,
  type ReportDocument,
  type ReportFinding,
  type ReportItem,
} from './document.ts'
import { exchangeTitle, summarizeOutcome, type ExchangeFacts } from './exchanges.ts'
import { contractSummary, diffSummaryText, type TapeDiffs } from './findings.ts'
import type { Inspection } from './inspect/inspect.ts'
import { isGeneratorLimit, objectiveText, type LoadReport } from './load.ts'
import { countsText, isHandshakeStep, verdictText } from './replay.ts'
import { RULES, ruleOfStepFinding, type RuleId } from './rules.ts'

/** What the documents need to know besides the result. */
export interface DocumentContext {
  /** The name of the command, such as `verify`. */
  readonly command: string
  /** The command line of this run, quoted for a shell. */
  readonly commandLine: string
  /** Finds the line of a subject in the file, if the file is a contract. */
  readonly lineOf?: (subject: string) => number | undefined
}

/** A replay or a check: an item for each message that belongs to an exchange. */
export function replayDocument(
  report: RepeatedReport,
  { command, commandLine }: DocumentContext,
): ReportDocument {
  const { summary, steps, notes } = report
  const { verdict, tape, target, duration } = summary
  return {
    command,
    subject: `${tape} against ${target}`,
    file: tape,
    verdict: verdict === 'flaky' ? 'fail' : verdict,
    summary: `${verdictText(report)}: ${countsText(report)}`,
    duration,
    notes,
    reproduce: commandLine,
    items: lazily(() => replayItems(steps, commandLine)),
  }
}

function* replayItems(steps: Iterable<ReplayStep>, commandLine: string): Generator<ReportItem> {
  for (const step of steps) {
    if (isHandshakeStep(step) || (step.exchange === undefined && step.findings.length === 0)) continue
    yield replayItem(step, commandLine)
  }
}

export function replayItem(step: ReplayStep, commandLine: string): ReportItem {
  const { method, tool, exchange, frame, duration, why } = step
  const call = exchangeTitle(method, tool)
  const status = stepStatus(step)
  const reason = step.isUnrecorded ? 'the tape has no response to compare with' : why
  const findings = step.findings.filter(({ level }) => level !== 'skip')
  const unbound: readonly ReportFinding[] =
    step.state === 'unbound' && !hasFailed(step)
      ? [reportFinding('live-unbound', call, { message: why ?? RULES['live-unbound'].title }, 'warning')]
      : []
  return {
    name: `${exchangeLabel(step)} ${call}`,
    group: method,
    status,
    ...(exchange !== undefined && { exchange }),
    line: frame + 1,
    ...(duration !== undefined && { duration }),
    ...(status === 'skipped' && reason !== undefined && { reason }),
    findings: [...findings.map((found) => stepFinding(found, step, call)), ...unbound],
    ...(exchange !== undefined && { reproduce: withOption(commandLine, `--explain ${exchange}`) }),
  }
}

function stepStatus(step: ReplayStep): ReportItem['status'] {
  if (hasFailed(step)) return 'failed'
  if (step.isUnrecorded) return 'skipped'
  if (step.state === 'timeout' || step.state === 'lost') return 'failed'
  if (step.state === 'skipped' || step.state === 'held' || isSkippedByRule(step)) return 'skipped'
  if (step.state === 'unbound') return 'warned'
  return step.findings.some(({ level }) => level === 'warn') ? 'warned' : 'passed'
}

function stepFinding(found: StepFinding, { state }: ReplayStep, call: string): ReportFinding {
  const { message, path, expected, actual, level } = found
  return reportFinding(
    ruleOfStepFinding(found, state),
    call,
    {
      message,
      ...(path !== undefined && { path }),
      ...(expected !== undefined && { before: expected }),
      ...(actual !== undefined && { after: actual }),
    },
    level === 'error' ? 'error' : 'warning',
  )
}

function reportFinding(
  rule: RuleId,
  call: string,
  facts: Pick<ReportFinding, 'message' | 'path' | 'before' | 'after'>,
  severity: FindingSeverity,
): ReportFinding {
  return { rule, severity, ...facts, fingerprint: findingFingerprint(rule, call, facts.path) }
}

/** Adds an option to a command line, before the command of a server. */
function withOption(commandLine: string, words: string): string {
  const at = commandLine.indexOf(' -- ')
  return at < 0 ? `${commandLine} ${words}` : `${commandLine.slice(0, at)} ${words}${commandLine.slice(at)}`
}

/** Two tapes: an item for each exchange that differs, each part of the server that changed, and one for all that is unchanged. */
export function diffDocument(diff: TapeDiff, context: DocumentContext): ReportDocument {
  const { before, after, summary, notes, isIdentical } = diff
  return {
    command: context.command,
    subject: `${before.path} and ${after.path}`,
    file: after.path,
    verdict: summary.breaking > 0 ? 'fail' : 'pass',
    summary: isIdentical ? 'identical' : diffSummaryText(diff),
    notes,
    reproduce: context.commandLine,
    items: [
      ...unchangedItem(diff),
      ...surfaceItems(diff.surface),
      ...exchangeItems(diff),
      ...slowItems(diff),
    ],
  }
}

function unchangedItem({ isIdentical, summary }: TapeDiff): readonly ReportItem[] {
  const { unchanged } = summary
  if (unchanged === 0 && !isIdentical) return []
  const name = isIdentical
    ? 'all exchanges are identical'
    : `${unchanged} ${unchanged === 1 ? 'exchange is' : 'exchanges are'} unchanged`
  return [{ name, group: 'exchanges', status: 'passed', findings: [] }]
}

function surfaceItems(findings: readonly Finding[], context?: DocumentContext): readonly ReportItem[] {
  const subjects = new Map<string, Finding[]>()
  for (const found of findings) subjects.set(found.subject, [...(subjects.get(found.subject) ?? []), found])
  return Array.from(subjects, ([subject, found]) => {
    const line = context?.lineOf?.(subject)
    return {
      name: subject,
      group: 'surface',
      status: statusOfFindings(found),
      ...(line !== undefined && { line }),
      findings: found.map((each) => compareFinding(each, subject)),
      reproduce: `reelay explain ${found[0]?.rule ?? ''}`,
    }
  })
}

function exchangeItems({ exchanges, before, after }: TapeDiff): readonly ReportItem[] {
  return exchanges.map((change) => {
    const number = change.after ?? change.before
    return {
      name: `${numbersOf(change)} ${change.call}`,
      group: 'exchanges',
      status: statusOfFindings(change.findings),
      ...(number !== undefined && { exchange: number }),
      findings: change.findings.map((found) => compareFinding(found, change.call)),
      reproduce: [
        ...(change.before === undefined
          ? []
          : [`reelay inspect ${quoteTapeArgument(before.path)} ${change.before}`]),
        ...(change.after === undefined
          ? []
          : [`reelay inspect ${quoteTapeArgument(after.path)} ${change.after}`]),
      ].join('; '),
    }
  })
}

function numbersOf({ before, after }: ExchangeChange): string {
  if (before === undefined || after === undefined) return `#${before ?? after}`
  return before === after ? `#${before}` : `#${before} → #${after}`
}

function slowItems({ latency = [] }: TapeDiff): readonly ReportItem[] {
  return latency.map(({ call, verdict, before, after, ratio }) => ({
    name: `latency of ${call}`,
    group: 'latency',
    status: verdict === 'slower' ? 'warned' : 'passed',
    duration: after.p50,
    findings:
      verdict === 'slower'
        ? [
            reportFinding(
              'live-slow',
              call,
              { message: `the median is ×${ratio.toFixed(2)} in ms`, before: before.p50, after: after.p50 },
              'warning',
            ),
          ]
        : [],
  }))
}

function compareFinding(found: Finding, call: string): ReportFinding {
  const { rule, message, path, before, after, accepted } = found
  const severity = accepted === undefined ? severityOf(found) : 'note'
  const fingerprint = found.fingerprint ?? findingFingerprint(rule, call, path)
  return {
    rule,
    severity,
    message: accepted === undefined ? message : `${message} (accepted: ${accepted})`,
    ...(path !== undefined && { path }),
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    fingerprint,
  }
}

function severityOf({ level }: Finding): FindingSeverity {
  if (isFailure(level)) return 'error'
  return level === 'unknown' || level === 'change' ? 'warning' : 'note'
}

function statusOfFindings(findings: readonly Finding[]): ReportItem['status'] {
  const open = findings.filter(({ accepted }) => accepted === undefined)
  if (open.some(({ level }) => isFailure(level))) return 'failed'
  return open.some((found) => severityOf(found) === 'warning') ? 'warned' : 'passed'
}

/** Several pairs of tapes. The names of the items begin with the later tape. */
export function diffsDocument(
  { diffs, missing, added }: TapeDiffs,
  context: DocumentContext,
): ReportDocument {
  const documents = diffs.map((diff) => diffDocument(diff, context))
  const failed = documents.filter(({ verdict }) => verdict === 'fail').length
  return {
    command: context.command,
    subject: `${diffs.length} pairs of tapes`,
    file: documents[0]?.file ?? '',
    verdict: failed + missing.length > 0 ? 'fail' : 'pass',
    summary: `${failed} of ${diffs.length} pairs with breaking changes, ${missing.length} missing, ${added.length} new`,
    notes: documents.flatMap(({ notes }) => notes),
    reproduce: context.commandLine,
    items: [
      ...documents.flatMap(({ items, file }) =>
        [...items].map((item) => ({ ...item, name: `${file}: ${item.name}` })),
      ),
      ...missing.map((name): ReportItem => {
        const facts = { message: 'the tape has no counterpart in the later folder' }
        return {
          name,
          group: 'tapes',
          status: 'failed',
          findings: [reportFinding('call-removed', name, facts, 'error')],
        }
      }),
      ...added.map((name): ReportItem => ({ name, group: 'tapes', status: 'passed', findings: [] })),
    ],
  }
}

/** A contract: an item for each tool, prompt, resource and server with findings. */
export function contractDocument(check: ContractCheck, context: DocumentContext): ReportDocument {
  const { contract, target, findings, summary } = check
  const items = surfaceItems(findings, context)
  return {
    command: context.command,
    subject: `${contract} and ${target}`,
    file: contract,
    verdict: summary.breaking + summary.security > 0 ? 'fail' : summary.unknown > 0 ? 'incomplete' : 'pass',
    summary: contractSummary(summary),
    notes: [],
    reproduce: context.commandLine,
    items:
      items.length > 0
        ? items
        : [{ name: 'the contract is kept', group: 'surface', status: 'passed', findings: [] }],
  }
}

/** The coverage of tapes: an item for each tool, prompt and resource. Gaps warn, because a part of a server may be left alone on purpose. */
export function coverageDocument(report: CoverageReport, context: DocumentContext): ReportDocument {
  const { tapes, servers, hasFailed: isTooLow } = report
  return {
    command: context.command,
    subject: tapes.length === 1 ? (tapes[0] ?? '') : `${tapes.length} tapes`,
    file: tapes[0] ?? '',
    verdict: isTooLow === undefined ? 'none' : isTooLow ? 'fail' : 'pass',
    summary: coverageSummary(report),
    notes: [],
    reproduce: context.commandLine,
    items: servers.flatMap((server) =>
      server.items.map((item) => coverageItem(item, server, servers.length > 1)),
    ),
  }
}

const COVERAGE_RULES: Readonly<Record<CoverageKind, RuleId>> = {
  use: 'coverage-not-used',
  argument: 'coverage-argument',
  value: 'coverage-value',
  error: 'coverage-error-path',
}

function coverageItem(item: CoveredItem, server: ServerCoverage, isQualified: boolean): ReportItem {
  const name = `${isQualified ? `${server.name}: ` : ''}${item.kind} ${item.name}`
  const missing = item.points.filter(({ uses }) => uses === 0)
  // That it was never used says everything about its arguments.
  const told = missing.some(({ kind }) => kind === 'use')
    ? missing.filter(({ kind }) => kind === 'use')
    : missing
  const [first] = item.suggestions
  return {
    name,
    group: 'coverage',
    status: missing.length === 0 ? 'passed' : 'warned',
    findings: told.map(({ kind, path, value }) =>
      reportFinding(
        COVERAGE_RULES[kind],
        kind === 'value' ? `${name} ${JSON.stringify(value)}` : name,
        {
          message: kind === 'use' ? gapsText(item) : RULES[COVERAGE_RULES[kind]].title,
          ...(path && { path: pathText(path) }),
          ...(kind === 'value' && { after: value }),
        },
        'note',
      ),
    ),
    ...(first && { reproduce: callCommandLine(first, server) }),
  }
}

/** A load run: an item for each objective and each call. */
export function loadDocument(report: LoadReport, context: DocumentContext): ReportDocument {
  const { result, objectives, tapes, target, started } = report
  const { totals, failures } = result
  const all = totals.all()
  const missed = objectives.filter(({ isMet }) => !isMet).length
  const isIncomplete = all.calls === 0 || isGeneratorLimit(result)
  return {
    command: context.command,
    subject: `${tapes.join(', ')} against ${target}`,
    file: tapes[0] ?? '',
    verdict: missed > 0 ? 'fail' : isIncomplete ? 'incomplete' : objectives.length === 0 ? 'none' : 'pass',
    summary: `${objectives.length === 0 ? '' : `${objectives.length - missed} of ${objectives.length} objectives met, `}${all.calls} calls, ${all.failed} failed, response p99 ${all.response.percentile(0.99).toFixed(1)} ms`,
    started,
    duration: result.duration,
    notes: isGeneratorLimit(result) ? [RULES['load-generator-limit'].title] : [],
    reproduce: context.commandLine,
    items: [
      ...objectives.map((each): ReportItem => {
        const message = objectiveText(each)
        const findings = each.isMet
          ? []
          : [reportFinding('load-objective-missed', each.objective, { message }, 'error')]
        return {
          name: `objective ${each.objective}`,
          group: 'objectives',
          status: each.isMet ? 'passed' : 'failed',
          findings,
        }
      }),
      ...failures.map((why): ReportItem => ({
        name: 'opening sessions',
        group: 'sessions',
        status: 'warned',
        findings: [reportFinding('load-sessions-failed', 'sessions', { message: why }, 'warning')],
      })),
      ...Array.from(totals.byLabel, ([label, { calls, failed, outcomes, response }]): ReportItem => {
        const kinds = [...outcomes].filter(([kind]) => kind !== 'ok').map(([kind, n]) => `${kind} ×${n}`)
        const message = `${failed} of ${calls} calls failed: ${kinds.join(', ')}`
        return {
          name: `calls of ${label}`,
          group: 'calls',
          status: failed > 0 ? 'warned' : 'passed',
          duration: response.percentile(0.5),
          findings: failed > 0 ? [reportFinding('load-calls-failed', label, { message }, 'warning')] : [],
        }
      }),
    ],
  }
}

/** A tape: an item for each exchange. Errors on a tape are notes, because nobody said what should have happened. */
export function inspectionDocument(inspection: Inspection, context: DocumentContext): ReportDocument {
  const { path, header, exchanges, durationMs, problems } = inspection
  const items = exchanges.map((exchange) => inspectionItem(exchange, path))
  const errors = items.filter(({ findings }) => findings.length > 0).length
  return {
    command: context.command,
    subject: path,
    file: path,
    verdict: 'none',
    summary: `${exchanges.length} ${exchanges.length === 1 ? 'exchange' : 'exchanges'}, ${errors} with errors or without a response`,
    started: header.started,
    duration: durationMs,
    notes: problems.map(({ line, why }) => `line ${line}: ${why}`),
    reproduce: context.commandLine,
    items,
  }
}

export function inspectionItem(exchange: ExchangeFacts, path: string): ReportItem {
  const { sequence, request, target, latencyMs, outcome } = exchange
  const call = exchangeTitle(request.message.method, target)
  const rule = TAPE_RULES[outcome.kind]
  return {
    name: `#${sequence} ${call}`,
    group: request.message.method,
    status: rule === undefined ? 'passed' : 'warned',
    exchange: sequence,
    line: request.n + 1,
    ...(latencyMs !== undefined && { duration: latencyMs }),
    findings:
      rule === undefined
        ? []
        : [reportFinding(rule, call, { message: summarizeOutcome(outcome).text }, 'warning')],
    reproduce: `reelay inspect ${quoteTapeArgument(path)} ${sequence}`,
  }
}

const TAPE_RULES: Readonly<Partial<Record<ExchangeFacts['outcome']['kind'], RuleId>>> = {
  error: 'tape-error',
  'tool-error': 'tape-tool-error',
  miss: 'tape-miss',
  unanswered: 'tape-no-response',
  'http-error': 'tape-no-response',
  lost: 'tape-no-response',
  cut: 'tape-no-response',
}
