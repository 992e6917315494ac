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
}

export function variationsAsText(report: VariationReport): string {
  const { failures } = report
  const lines = [
    ...failures.flatMap((failure, at) => [...failureLines(failure, at + 1), '']),
    summaryOf(report),
    ...notesOf(report),
  ]
  return lines.map((line) => `${escapeControlChars(line)}\n`).join('')
}

function failureLines(failure: ReportedFailure, number: number): readonly string[] {
  const { call, fails, summary, story, capsules, path, isConfirmed, shrunk } = failure
  return [
    `${number}. ${fails}: ${call}: ${summary}${isConfirmed ? '' : ' (it did not fail again)'}`,
    ...(path === undefined && failure.run === 0 ? [] : [`   varied: ${variationOf(failure)}`]),
    ...story.slice(0, -1).map((line) => `     ${line}`),
    ...(shrunk === undefined
      ? []
      : [`   ${shrunk.messages.after} of ${shrunk.messages.before} messages are needed`]),
    ...(capsules[0] === undefined
      ? path === undefined
        ? []
        : [`   tape: ${path}`]
      : [`   run it again: reelay capsule run ${capsules[0]} -- <server command>`]),
  ]
}

function variationOf({ variation }: VariedFailure): string {
  return variation.length === 0 ? 'nothing: the session fails as it was recorded' : variation.join('; ')
}

/** `2 failures in 120 variations with 3,400 calls in 60 s, seed 1` */
function summaryOf({ failures, runs, calls, duration, seed, stopped, isolation }: VariationReport): string {
  const found = failures.length === 0 ? 'no failure' : count(failures.length, 'failure')
  if (isolation !== undefined)
    return `${failures.length === 0 ? 'no value' : `values`} of one session showed up in the other${failures.length === 0 ? '' : `: in ${count(failures.length, 'call')}`} (${count(runs, 'order')}, ${count(calls, 'call')}, seed ${seed})${ENDS[stopped]}`
  return `${found} in ${count(runs, 'variation')} with ${count(calls, 'call')} in ${formatDuration(duration)}, seed ${seed}${ENDS[stopped]}`
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

function notesOf({ held, failures, isolation }: VariationReport): readonly string[] {
  return [
    ...(held.length > 0 ? [heldNote(held)] : []),
    ...(failures.length > 0 && isolation?.isWarning
      ? [
          'note: each session had a process of its own, so they share files or a database; if they must not: --strict',
        ]
      : []),
  ]
}

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

/** Whether a failure decides the exit code. */
export function isFailing({ isConfirmed, fails }: VariedFailure, { isolation }: VariationReport): boolean {
  return isConfirmed && fails !== 'injection' && isolation?.isWarning !== true
}

function failureItem(failure: ReportedFailure, isError: boolean): ReportItem {
  const { call, fails, summary, signature, capsules, path } = failure
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
    ...(path !== undefined && {
      reproduce:
        capsules[0] === undefined
          ? `reelay shrink ${path} --fails ${fails} -- <server command>`
          : `reelay capsule run ${capsules[0]} -- <server command>`,
    }),
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
