import { styleText } from 'node:util'
import { describeValue } from '../../match/describe-request.ts'
import type { RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import { hasFailed, type ReplayStep } from '../../replay/steps/step.ts'
import { isSkippedByRule } from '../../replay/steps/run-totals.ts'
import type { StepFinding } from '../../replay/judge/judged-answer.ts'
import { truncateText, escapeControlChars } from '../../text.ts'
import { formatDuration, type TextStyle } from '../table.ts'

/** A step on one line, followed by its differences. */
export function stepAsText(step: ReplayStep): string {
  const { frame, method, tool, duration, state, why } = step
  const [word, style] = stepLabel(step)
  const title = truncateText(tool === undefined ? method : `${method} ${tool}`, 44).padEnd(44)
  const time = duration === undefined ? '' : formatDuration(duration)
  const reason = state === 'done' || why === undefined ? '' : `  ${styleText('dim', escapeControlChars(why))}`
  const line = `${styleText(style, word.padEnd(7))} ${`#${frame}`.padStart(6)}  ${title} ${time.padStart(9)}${reason}`
  return [line.trimEnd(), ...step.findings.map(findingAsText)].join('\n')
}

/** The summary of a run, printed after its steps. */
export function replaySummaryText(report: RepeatedReport): string {
  const { summary, performance, validation, notes, noise, unstable, runs } = report
  return [
    ...notes.map((note) => `note: ${note}`),
    ...noise.map(
      ({ method, tool, path }) =>
        `noise: ${callName(method, tool)} ${path}: the server says something else each time`,
    ),
    ...unstable
      .filter(({ finding }) => finding.difference === undefined)
      .map(
        ({ index, finding, inRuns }) =>
          `unstable: step ${index}, ${finding.layer}: ${finding.message} (in ${inRuns} of ${runs} runs)`,
      ),
    ...bindingsText(report),
    `${summary.sent} sent, ${injectedText(summary.injected)}${summary.skipped} left out, ${summary.held} held back, ${summary.unbound} unbound; ${validation.failed} of ${validation.checked} answers not as recorded${layersText(validation.layers)}${skippedText(validation.skipped)}`,
    `answers: p50 ${formatDuration(performance.p50)}, p95 ${formatDuration(performance.p95)}, p99 ${formatDuration(performance.p99)}; ${formatDuration(summary.duration)} in all`,
    `verdict: ${verdictText(report)}`,
  ]
    .map((line) => `${escapeControlChars(line)}\n`)
    .join('')
}

function bindingsText({ bindings }: RepeatedReport): readonly string[] {
  const words = STANDINGS.flatMap((standing) => {
    const count = bindings.filter((one) => one.standing === standing).length
    return count === 0 ? [] : [`${count} ${STANDING_TEXT[standing]}`]
  })
  return words.length === 0 ? [] : [`bindings: ${words.join(', ')}`]
}

const STANDINGS = ['confirmed', 'constant', 'user', 'found', 'refuted'] as const
const STANDING_TEXT: Readonly<Record<(typeof STANDINGS)[number], string>> = {
  confirmed: 'confirmed',
  constant: 'the same as recorded',
  user: 'by the bindings file',
  found: 'not put to the test',
  refuted: 'refuted',
}

const VERDICT_TEXT: Readonly<Record<RepeatedReport['summary']['verdict'], string>> = {
  pass: 'as recorded',
  fail: 'not as recorded',
  incomplete: 'as recorded, as far as it went: not everything could be sent',
}

function verdictText({ summary, validation }: RepeatedReport): string {
  if (summary.sent === 0 && summary.verdict !== 'fail') return 'none, because nothing was sent'
  const isCompared = validation.checked + validation.skipped > 0
  return isCompared || summary.verdict !== 'pass'
    ? VERDICT_TEXT[summary.verdict]
    : 'none, because no answer was compared'
}

function stepLabel(step: ReplayStep): readonly [string, TextStyle] {
  if (step.state === 'timeout' || step.state === 'lost') return [step.state, 'red']
  if (step.state === 'unbound') return ['unbound', hasFailed(step) ? 'red' : 'yellow']
  if (hasFailed(step)) return ['differs', 'red']
  if (isSkippedByRule(step)) return ['skipped', 'yellow']
  if (step.findings.length > 0) return ['warning', 'yellow']
  return step.state === 'done' ? ['ok', 'green'] : [step.state, step.state === 'held' ? 'yellow' : 'dim']
}

function findingAsText({ layer, message, path, expected, actual }: StepFinding): string {
  const sides = [
    ...(expected === undefined ? [] : [`recorded ${describeValue(expected, 60)}`]),
    ...(actual === undefined ? [] : [`now ${describeValue(actual, 60)}`]),
  ]
  const words = [path, message, sides.join('   ')].filter((word) => word !== undefined && word !== '')
  return `          ${styleText('yellow', layer.padEnd(9))} ${escapeControlChars(words.join('   '))}`
}

function callName(method: string, tool: string | undefined): string {
  return tool === undefined ? method : `${method} ${tool}`
}

function injectedText(injected: number): string {
  return injected === 0 ? '' : `${injected} made to fail, `
}

function layersText(layers: RepeatedReport['validation']['layers']): string {
  const found = Object.entries(layers).filter(([, count]) => count > 0)
  return found.length === 0 ? '' : ` (${found.map(([layer, count]) => `${layer} ${count}`).join(', ')})`
}

function skippedText(skipped: number): string {
  return skipped === 0 ? '' : `; ${skipped} not checked, by a rule`
}
