import type { VariedFailure } from '../../vary/session-runner.ts'
import type { VaryResult } from '../../vary/vary.ts'
import { escapeControlChars } from '../../text.ts'
import { findingFingerprint, type ReportDocument, type ReportItem } from '../document.ts'
import type { DocumentContext } from '../documents.ts'
import { jsonDocument, jsonValue } from '../json-text.ts'
import type { RuleId } from '../rules.ts'
import { formatDuration } from '../table.ts'

/** The variations of a tape that were run, and their failures with the files that were written. */
export interface VariationReport extends Omit<VaryResult, 'failures'> {
  readonly tape: string
  readonly failures: readonly ReportedFailure[]
  /** Set if two sessions were compared. Separate processes share values only through storage, which may be on purpose. */
  readonly isolation?: { readonly isWarning: boolean }
}

export interface ReportedFailure extends VariedFailure {
  readonly story: readonly string[]
  readonly capsules: readonly string[]
  /** The command line that runs its capsule, or that shrinks it; `undefined` if no session is needed. */
  readonly rerun: string | undefined
}

export function variationsAsText(report: VariationReport): string {
  const { failures } = report
  const lines = [
    ...failures.flatMap((failure, at) => [...failureLines(failure, at + 1, report), '']),
    summaryOf(report),
    ...notesOf(report),
  ]
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}

function failureLines(failure: ReportedFailure, number: number, report: VariationReport): readonly string[] {
  const { call, fails, summary, story, capsules, path, isConfirmed, shrunk, rerun } = failure
  const notes = [
    ...(isFailing(failure, report) ? [] : ['warning']),
    ...(isConfirmed ? [] : ['it did not fail again']),
  ]
  return [
    `${number}. ${fails}: ${call}: ${summary}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`,
    ...(path === undefined && failure.run === 0 ? [] : [`   varied: ${variationOf(failure)}`]),
    ...story.slice(0, -1).map((line) => `     ${line}`),
    ...(shrunk === undefined
      ? []
      : [`   ${shrunk.messages.after} of ${shrunk.messages.before} messages are needed`]),
    ...(capsules.length > 0 || path === undefined ? [] : [`   tape: ${path}`]),
    ...(rerun === undefined ? [] : [`   ${capsules.length > 0 ? 'run it again' : 'shrink it'}: ${rerun}`]),
  ]
}

function variationOf({ variation }: VariedFailure): string {
  return variation.length === 0 ? 'nothing: the session fails as it was recorded' : variation.join('; ')
}

/** `2 failures and 1 warning in 120 variations with 3,400 calls in 60 s, and 12 s to shrink them, seed 1` */
function summaryOf(report: VariationReport): string {
  const { failures, runs, calls, duration, shrinkingMs, seed, stopped, isolation } = report
  if (isolation !== undefined)
    return `${failures.length === 0 ? 'no value' : `values`} of one session showed up in the other${failures.length === 0 ? '' : `: in ${count(failures.length, 'call')}`} (${count(runs, 'order')}, ${count(calls, 'call')}, seed ${seed})${ENDS[stopped]}`
  const shrinking =
    shrinkingMs === 0
      ? ''
      : `, and ${formatDuration(shrinkingMs)} to shrink ${failures.length === 1 ? 'it' : 'them'}`
  return `${foundText(report)} in ${count(runs, 'variation')} with ${count(calls, 'call')} in ${formatDuration(duration)}${shrinking}, seed ${seed}${ENDS[stopped]}`
}

/** What decides the exit code is a failure, anything else a warning. */
function foundText(report: VariationReport): string {
  const failing = report.failures.filter((failure) => isFailing(failure, report)).length
  const warnings = report.failures.length - failing
  return [
    ...(failing > 0 || warnings === 0 ? [failing === 0 ? 'no failure' : count(failing, 'failure')] : []),
    ...(warnings > 0 ? [count(warnings, 'warning')] : []),
  ].join(' and ')
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}

const ENDS: Readonly<Record<VaryResult['stopped'], string>> = {
  runs: '',
  calls: '; no call is left: --calls allows more',
  time: '; the time is over: --for allows more',
  failures: '; --failures looks for more',
  interrupted: '; interrupted',
}

function notesOf({ held, failures, isolation, probes }: VariationReport): readonly string[] {
  return [
    ...(held.length > 0 ? [heldNote(held)] : []),
    ...(probes === undefined ? [] : probeNotes(probes)),
    ...(failures.length > 0 && isolation?.isWarning
      ? [
          'note: each session had a process of its own, so they share files or a database; if they must not: --strict',
        ]
      : []),
  ]
}

function probeNotes({
  sent,
  untried,
  triesPaths,
}: NonNullable<VariationReport['probes']>): readonly string[] {
  const shown = untried.slice(0, MOST_UNTRIED)
  const more = untried.length - shown.length
  return [
    ...(sent + untried.length === 0
      ? ['note: no probe was sent, because no call that may be sent has a text as an argument']
      : [`note: ${count(sent, 'probe')} ${sent === 1 ? 'was' : 'were'} sent`]),
    ...(untried.length === 0
      ? []
      : [
          `note: ${count(untried.length, 'probe')} ${untried.length === 1 ? 'was' : 'were'} not tried, for example with a longer --for: ${shown.join('; ')}${more === 0 ? '' : `; and ${more} more`}`,
        ]),
    ...(triesPaths
      ? []
      : [
          'note: no path was tried, because the server may read every folder in which a file could be hidden from it',
        ]),
  ]
}

const MOST_UNTRIED = 10

function heldNote(held: readonly string[]): string {
  const names = held.join()
  return `note: calls of ${names} were not sent, because they may write; with a server that may lose its data: --allow ${names} or --allow-writes`
}

export function variationsAsJson({ sent, failures, ...report }: VariationReport): string {
  return jsonDocument({
    ...Object.fromEntries(Object.entries(report).map(([name, value]) => [name, jsonValue(value)])),
    sent: jsonValue(Object.fromEntries(sent)),
    failures: failures.map(jsonValue),
  })
}

/** An item for each failure, and one for each tool and method without one. */
export function variationsDocument(report: VariationReport, context: DocumentContext): ReportDocument {
  const { tape, failures, sent, duration } = report
  const failed = new Set(failures.map(({ call }) => call))
  return {
    command: context.command,
    subject: tape,
    file: tape,
    verdict: failures.some((failure) => isFailing(failure, report)) ? 'fail' : 'pass',
    summary: summaryOf(report),
    duration,
    notes: notesOf(report),
    reproduce: context.commandLine,
    items: [
      ...failures.map((failure) => failureItem(failure, isFailing(failure, report))),
      ...[...sent]
        .filter(([call]) => !failed.has(call))
        .map(([call, calls]): ReportItem => ({
          name: call,
          group: call.split(' ')[0] ?? call,
          status: 'passed',
          findings: [],
          reason: count(calls, 'call'),
        })),
    ],
  }
}

/** Whether a failure decides the exit code. A tool that repeats an argument may do so on purpose. */
export function isFailing({ isConfirmed, fails }: VariedFailure, { isolation }: VariationReport): boolean {
  return isConfirmed && fails !== 'injection' && isolation?.isWarning !== true
}

function failureItem(failure: ReportedFailure, isError: boolean): ReportItem {
  const { call, fails, summary, signature, rerun } = failure
  return {
    name: `${call} (${fails})`,
    group: call.split(' ')[0] ?? call,
    status: isError ? 'failed' : 'warned',
    findings: [
      {
        rule: ruleOfFailure(fails),
        severity: isError ? 'error' : 'warning',
        message: `${summary} (varied: ${variationOf(failure)})`,
        fingerprint: findingFingerprint(fails, `${call} ${signature}`),
      },
    ],
    ...(rerun !== undefined && { reproduce: rerun }),
  }
}

function ruleOfFailure(fails: string): RuleId {
  return FAILURE_RULES[fails] ?? 'vary-protocol'
}

const FAILURE_RULES: Readonly<Record<string, RuleId>> = {
  crash: 'vary-crash',
  hang: 'vary-hang',
  'internal-error': 'vary-internal-error',
  leak: 'vary-leak',
  schema: 'vary-schema',
  protocol: 'vary-protocol',
  isolation: 'isolation-leak',
  traversal: 'probe-path-traversal',
  ssrf: 'probe-ssrf',
  injection: 'probe-injection',
  'dns-rebinding': 'probe-dns-rebinding',
  'session-fixation': 'probe-session-fixation',
  unauthenticated: 'probe-unauthenticated',
}
