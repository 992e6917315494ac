import { exchangeLabel } from '../tape/turns.ts'
import { styleText } from 'node:util'
import { describeValue } from '../match/describe-request.ts'
import { member } from '../json/parse.ts'
import type { RepeatedReport } from '../replay/repeat/repeated-report.ts'
import type { ReplayReport } from '../replay/report.ts'
import { isSkippedByRule } from '../replay/steps/run-totals.ts'
import { hasFailed, type ReplayStep, type StepFinding } from '../replay/steps/step.ts'
import { streamJson, StreamedList, toSerializable, parseOrKeepText } from './json-text.ts'
import { formatDuration, type TextStyle } from './table.ts'
import { indexesUpTo, NumberTable } from '../store/columns.ts'
import { truncateText, escapeControlChars, quoteShellWord } from '../text.ts'
import type { StepList } from '../replay/steps/step-log.ts'

/** A step on one line, followed by its differences. */
export function stepAsText(step: ReplayStep): string {
  const { exchange, method, tool, duration, state, why } = step
  const [word, style] = stepLabel(step)
  const title = truncateText(callName(method, tool), 44).padEnd(44)
  const time = duration === undefined ? '' : formatDuration(duration)
  const reason = state === 'done' || why === undefined ? '' : `  ${styleText('dim', escapeControlChars(why))}`
  const line = `${styleText(style, word.padEnd(7))} ${numberText(exchange).padStart(6)}  ${title} ${time.padStart(9)}${reason}`
  return [line.trimEnd(), ...step.findings.map(findingAsText)].join('\n')
}

/** The summary, printed after the steps: noise, then the differences that remain after several runs, then the verdict. */
export function replaySummaryText(report: RepeatedReport): string {
  const { summary, performance, validation, notes, noise } = report
  return [
    ...notes.map((note) => `note: ${note}`),
    ...noise.map(noiseText),
    ...remainingText(report),
    ...bindingsText(report),
    ...explanationText(report),
    `${summary.sent} sent, ${injectedText(summary.injected)}${summary.skipped} skipped, ${summary.held} held back, ${summary.unbound} unbound; ${validation.failed} of ${validation.checked} responses not as recorded${layersText(validation.layers)}${skippedText(validation.skipped)}`,
    `response times: p50 ${formatDuration(performance.p50)}, p95 ${formatDuration(performance.p95)}, p99 ${formatDuration(performance.p99)}; ${formatDuration(summary.duration)} in total`,
    ...heldText(report),
    `verdict: ${verdictText(report)}`,
  ]
    .map((line) => `${escapeControlChars(line)}\n`)
    .join('')
}

/** Notifications have no number. */
function numberText(exchange: number | undefined): string {
  return exchange === undefined ? '' : `#${exchange}`
}

function noiseText({
  method,
  tool,
  path,
  exchanges,
  inEveryCall,
  isFromProfile,
}: RepeatedReport['noise'][number]): string {
  const where = inEveryCall ? `all ${exchanges.length} calls` : exchanges.map(numberText).join(', ')
  const why = isFromProfile ? 'varies as in the noise profile' : 'the server sends another value each time'
  return `noise: ${callName(method, tool)} ${path}: ${why} (${where})`
}

/** A single run has printed its differences with its steps. */
function remainingText({ steps, judgedRuns, unstable }: RepeatedReport): readonly string[] {
  if (judgedRuns === 1) return []
  const remaining = [...steps.changed()].filter(({ findings }) => findings.length > 0)
  const isSlow = unstable.filter(({ finding }) => finding.layer === 'timing')
  return [
    ...(remaining.length === 0 ? [] : ['differences that are not noise:']),
    ...remaining.flatMap((step) => [
      `  ${exchangeLabel(step)} ${callName(step.method, step.tool)}`,
      ...step.findings.map(
        (finding) =>
          `    ${finding.layer.padEnd(9)} ${findingText(finding)}   (${runsText(finding.inRuns, judgedRuns)})`,
      ),
    ]),
    ...isSlow.map(
      (step) =>
        `unstable: ${exchangeLabel(step)} ${step.finding.layer}: ${step.finding.message} (${runsText(step.inRuns, judgedRuns)})`,
    ),
  ]
}

function runsText(inRuns: number | undefined, runs: number): string {
  return inRuns === runs ? `in all ${runs} runs` : `in ${inRuns} of ${runs} runs`
}

function explanationText({ explained, judgedRuns }: RepeatedReport): readonly string[] {
  if (explained === undefined) return []
  const { exchange, method, tool, why, differences } = explained
  const same = differences.length === 0 ? [why ?? 'all runs are as recorded'] : []
  return [
    `explained: #${exchange} ${callName(method, tool)}`,
    ...same.map((text) => `  ${text}`),
    ...differences.flatMap((one) => [
      `  ${one.path}`,
      ...(one.recorded === undefined ? [] : [`    recorded  ${describeValue(one.recorded, 100)}`]),
      ...one.live.map(
        ({ run, value }) =>
          `    run ${run}     ${value === undefined ? 'differs' : describeValue(value, 100)}`,
      ),
      ...(one.live.length < judgedRuns
        ? [`    as recorded in ${judgedRuns - one.live.length} of ${judgedRuns} runs`]
        : []),
      one.verdict === 'noise'
        ? `    noise: ${one.why} (${EXPLAINED_BY[one.by]})`
        : `    difference: ${one.why}`,
    ]),
  ]
}

type ExplainedBy = NonNullable<RepeatedReport['explained']>['differences'][number]['by']

const EXPLAINED_BY: Readonly<Record<ExplainedBy, string>> = {
  profile: 'from the noise profile',
  runs: 'learned in these runs',
  clock: 'from the clock',
  binding: 'from a binding',
  equality: 'from equal values on the tape',
  option: 'from your options',
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
  user: 'from the bindings file',
  found: 'not tested',
  refuted: 'refuted',
}

const VERDICT_TEXT: Readonly<Record<RepeatedReport['summary']['verdict'], string>> = {
  pass: 'as recorded',
  fail: 'not as recorded',
  flaky: 'flaky: as recorded in some runs only',
  incomplete: 'as recorded, but incomplete: not everything could be sent',
}

function verdictText({ summary, validation }: RepeatedReport): string {
  if (summary.sent === 0 && summary.verdict !== 'fail') return 'none, because nothing was sent'
  const isCompared = validation.checked + validation.skipped > 0
  return isCompared || summary.verdict !== 'pass'
    ? VERDICT_TEXT[summary.verdict]
    : 'none, because no response was compared'
}

function stepLabel(step: ReplayStep): readonly [string, TextStyle] {
  if (step.state === 'timeout' || step.state === 'lost') return [step.state, 'red']
  if (step.state === 'unbound') return ['unbound', hasFailed(step) ? 'red' : 'yellow']
  if (hasFailed(step)) return ['differs', 'red']
  if (isSkippedByRule(step)) return ['skipped', 'yellow']
  if (step.findings.length > 0) return ['warning', 'yellow']
  if (isOpenAsRecorded(step)) return ['open', 'yellow']
  return step.state === 'done' ? ['ok', 'green'] : [step.state, step.state === 'held' ? 'yellow' : 'dim']
}

/** Returns true for a request that got no answer, now and on the tape. */
function isOpenAsRecorded({ state, recordedId, answer, recordedAnswer, duration }: ReplayStep): boolean {
  const isRequest = recordedId !== undefined && recordedAnswer === undefined
  return state === 'done' && isRequest && answer === undefined && duration === undefined
}

function findingAsText(finding: StepFinding): string {
  return `          ${styleText('yellow', finding.layer.padEnd(9))} ${escapeControlChars(findingText(finding))}`
}

function findingText({ message, path, expected, actual }: StepFinding): string {
  const [recorded, now] = describeChange(expected, actual)
  const sides = [
    ...(recorded === undefined ? [] : [`recorded ${recorded}`]),
    ...(now === undefined ? [] : [`now ${now}`]),
  ]
  return [path, message, sides.join('   ')].filter((word) => word !== undefined && word !== '').join('   ')
}

/** Shows two values, of long texts the part that differs, in its context. */
function describeChange(
  expected: unknown,
  actual: unknown,
): readonly [string | undefined, string | undefined] {
  if (
    typeof expected !== 'string' ||
    typeof actual !== 'string' ||
    expected.length + actual.length < SHOWN * 2
  )
    return [describeSide(expected), describeSide(actual)]
  let start = 0
  while (start < Math.min(expected.length, actual.length) && expected[start] === actual[start]) start++
  const from = Math.max(0, start - CONTEXT)
  return from === 0
    ? [describeSide(expected), describeSide(actual)]
    : [excerpt(expected, from), excerpt(actual, from)]
}

const SHOWN = 60
const CONTEXT = 20

function describeSide(value: unknown): string | undefined {
  return value === undefined ? undefined : describeValue(value, SHOWN)
}

function excerpt(text: string, from: number): string {
  const end = from + SHOWN
  const shown = JSON.stringify(text.slice(from, end)).slice(1, -1)
  return `"…${shown}${end < text.length ? '…' : ''}" (${text.length} characters)`
}

function callName(method: string, tool: string | undefined): string {
  return tool === undefined ? method : `${method} ${tool}`
}

function injectedText(injected: number): string {
  return injected === 0 ? '' : `${injected} ${injected === 1 ? 'fault' : 'faults'} injected, `
}

function layersText(layers: RepeatedReport['validation']['layers']): string {
  const found = Object.entries(layers).filter(([, count]) => count > 0)
  return found.length === 0 ? '' : ` (${found.map(([layer, count]) => `${layer} ${count}`).join(', ')})`
}

function skippedText(skipped: number): string {
  return skipped === 0 ? '' : `; ${skipped} not compared`
}

/** How to send the calls that were held back. */
function heldText({ summary: { held }, steps }: RepeatedReport): readonly string[] {
  if (held === 0) return []
  const tools = new Set<string>()
  for (const { index, state } of steps.outlines()) {
    if (tools.size === MAX_HELD_TOOLS) break
    if (state === 'held') tools.add(steps.at(index)?.tool ?? '')
  }
  return [heldCallsHint(held, [...tools])]
}

const MAX_HELD_TOOLS = 20

export function heldCallsHint(held: number, tools: readonly string[]): string {
  const named = tools.filter((name) => name !== '')
  const allow = named.length === 0 ? '' : `--allow ${quoteShellWord(named.join(','))} or `
  const [calls, were, they] = held === 1 ? ['call', 'was', 'it'] : ['calls', 'were', 'they']
  return `${held} ${calls} ${were} not sent, because ${they} may write. To send ${held === 1 ? 'it' : 'them'}: ${allow}--allow-writes`
}

/** The report as JSON in chunks, as defined by `schema/replay-report-1.json`. Only one step is in memory at a time. */
export function replayAsJson(report: RepeatedReport): Iterable<string> {
  const { summary, performance, validation, errors, bindings, guesses, notes, runs } = report
  const { judgedRuns, noise, timeline, unstable, steps, explained } = report
  return streamJson({
    reelayReport: 1,
    summary,
    performance,
    validation,
    errors,
    bindings,
    guesses,
    notes,
    runs,
    judgedRuns,
    noise,
    explained: explained && toSerializable(explained),
    timeline: new StreamedList(() => timeline),
    unstable: unstable.map(({ index, frame, exchange, finding, inRuns }) => ({
      index,
      frame,
      exchange,
      finding: findingJson(finding),
      inRuns,
    })),
    steps: new StreamedList(() => stepsJson(steps)),
  })
}

function* stepsJson(steps: Iterable<ReplayStep>): Generator<object> {
  for (const step of steps) yield stepJson(step)
}

// Messages are written as JSON values, not as strings that contain JSON.
function stepJson(step: ReplayStep): object {
  return {
    ...step,
    sent: parseOrKeepText(step.sent),
    answer: parseOrKeepText(step.answer),
    recordedAnswer: parseOrKeepText(step.recordedAnswer),
    ...(step.notifications !== undefined && { notifications: parseOrKeepText(step.notifications) }),
    findings: step.findings.map(findingJson),
    acceptable: undefined,
  }
}

function findingJson(finding: StepFinding): object {
  const { expected, actual } = finding
  return {
    ...finding,
    difference: undefined,
    isNeverNoise: undefined,
    expected: toSerializable(expected),
    actual: toSerializable(actual),
  }
}

/** Each request with its response, in chunks, with the field names of the session replays that security testers know. */
export function replayResults({ steps }: Pick<ReplayReport, 'steps'>): Iterable<string> {
  return streamJson({
    results: new StreamedList(() => stepResults(steps)),
    messages: new StreamedList(() => orderedMessages(steps)),
  })
}

function* stepResults(steps: Iterable<ReplayStep>): Generator<object> {
  for (const step of steps) if (step.sent !== undefined) yield stepResultJson(step)
}

function stepResultJson({ frame, method, recordedId, sent, answer, why, duration }: ReplayStep): object {
  return {
    original_request: { id: frame, method, jsonrpc_id: recordedId ?? null },
    sent_message: parseOrKeepText(sent),
    response: parseOrKeepText(answer),
    error: why ?? null,
    duration_ms: duration ?? null,
  }
}

/** All messages of a run in order, with the field names of the session files that security testers know. */
function* orderedMessages(steps: StepList): Generator<object> {
  let sequence = 0
  for (const { index, isAnswer } of inTimeOrder(steps)) {
    const step = steps.at(index)
    if (step !== undefined) yield messageRecord(step, isAnswer, sequence++)
  }
}

interface OrderedMessage {
  readonly index: number
  readonly isAnswer: boolean
}

/** The messages in the order of the run. Each is two numbers, because there may be millions. */
function* inTimeOrder(steps: StepList): Generator<OrderedMessage> {
  const messages = new NumberTable({ at: 'float64', message: 'uint32' })
  for (const { index, state, sentAt, duration } of steps.outlines()) {
    if (sentAt === undefined) continue
    messages.add({ at: sentAt, message: index * 2 })
    if (state !== 'done' || duration === undefined) continue
    messages.add({ at: sentAt + duration, message: index * 2 + 1 })
  }
  for (const row of messages.orderBy('at') ?? indexesUpTo(messages.size)) {
    const number = messages.columns.message.at(row)
    yield { index: Math.floor(number / 2), isAnswer: number % 2 === 1 }
  }
}

function messageRecord(
  { frame, method, sent, answer }: ReplayStep,
  isAnswer: boolean,
  sequence: number,
): object {
  const payload = parseOrKeepText(isAnswer ? answer : sent)
  return {
    proxy_id: isAnswer ? `frame-${frame}-answer` : `frame-${frame}`,
    sequence,
    direction: isAnswer ? 'server_to_client' : 'client_to_server',
    jsonrpc_id: member(payload, 'id') ?? null,
    method: isAnswer ? null : method,
    correlated_id: isAnswer ? `frame-${frame}` : null,
    payload,
  }
}
