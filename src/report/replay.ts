import { exchangeLabel } from '../tape/turns.ts'
import { styleText } from 'node:util'
import { describeValue } from '../match/describe-request.ts'
import { canonicalJson } from '../json/canonical.ts'
import { member } from '../json/parse.ts'
import type { ChangedPart } from '../diff/difference.ts'
import type { RepeatedReport } from '../replay/repeat/repeated-report.ts'
import type { ReplayReport } from '../replay/report.ts'
import { isSkippedByRule } from '../replay/steps/run-totals.ts'
import { OWN_HANDSHAKE } from '../replay/plan/plan.ts'
import { lostToolNote } from '../replay/notes.ts'
import { hasFailed, type ReplayStep, type StepFinding, type StepState } from '../replay/steps/step.ts'
import { streamJson, StreamedList, toSerializable, parseOrKeepText } from './json-text.ts'
import { ruleOfStepFinding } from './rules.ts'
import { formatDuration, type TextStyle } from './table.ts'
import { indexesUpTo, NumberTable } from '../store/columns.ts'
import {
  commonAffixLength,
  commonPrefixLength,
  escapeControlChars,
  quoteShellWord,
  truncateText,
} from '../text.ts'
import type { StepList } from '../replay/steps/step-log.ts'

/** A step on one line, followed by its differences. */
export function stepAsText(step: ReplayStep, judgedRuns = 1): string {
  const { exchange, method, tool, duration, state, why } = step
  const [word, style] = stepLabel(step)
  const title = truncateText(callName(method, tool), 44).padEnd(44)
  const time = duration === undefined ? '' : formatDuration(duration)
  const reasons = [
    ...(state === 'done' || why === undefined ? [] : [escapeControlChars(why)]),
    ...(step.isUnrecorded ? [unrecordedText(step)] : []),
  ]
  const reason = reasons.length === 0 ? '' : `  ${styleText('dim', reasons.join('; '))}`
  const line = `${styleText(style, word.padEnd(7))} ${numberText(exchange).padStart(6)}  ${title} ${time.padStart(9)}${reason}`
  return [line.trimEnd(), ...step.findings.flatMap((finding) => findingAsText(finding, judgedRuns))].join(
    '\n',
  )
}

function unrecordedText({ answer }: ReplayStep): string {
  return answer === undefined ? 'the tape has no response either' : 'not compared: the tape has no response'
}

export interface SummaryTextOptions {
  /** False if the rows of the steps are printed already. */
  readonly hasRows?: boolean
  /** True to list all noise and to count bindings. */
  readonly isVerbose?: boolean
  /** False leaves out the response times, which are different each time. */
  readonly showsTimes?: boolean
}

/** The summary: the steps that need attention, each once and without noise, then what was left out, then the verdict. */
export function replaySummaryText(
  report: RepeatedReport,
  { hasRows = true, isVerbose = false, showsTimes = true }: SummaryTextOptions = {},
): string {
  const { performance, notes, summary, validation } = report
  return [
    ...notes.map((note) => escapeControlChars(`note: ${note}`)),
    ...(hasRows ? rowsText(report) : []),
    ...[
      ...noiseText(report, isVerbose),
      ...slowText(report),
      ...bindingsText(report, isVerbose),
      ...explanationText(report),
      countsText(report),
      ...(validation.checked + validation.skipped === 0 || !showsTimes
        ? []
        : [
            `response times: p50 ${formatDuration(performance.p50)}, p95 ${formatDuration(performance.p95)}, p99 ${formatDuration(performance.p99)}; ${formatDuration(summary.duration)} in total`,
          ]),
      ...heldText(report),
      ...(hasRows ? unboundText(report) : []),
      ...incomparableText(report),
      `verdict: ${verdictText(report)}`,
    ].map(escapeControlChars),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

/**
 * The steps that differ or got no response. Calls that were held back are named in the hint that says how to send them, and those
 * that need their responses are counted beside it.
 */
function rowsText({ steps, judgedRuns, summary }: RepeatedReport): readonly string[] {
  const rows: string[] = []
  let left = 0
  for (const step of steps.changed()) {
    if (!needsAttention(step) || (summary.held > 0 && isUnboundOnly(step))) continue
    if (rows.length < MAX_ROWS) rows.push(stepAsText(step, judgedRuns))
    else left++
  }
  return left === 0 ? rows : [...rows, `… and ${left} more; -v shows all of them`]
}

const MAX_ROWS = 100

function needsAttention(step: ReplayStep): boolean {
  if (step.state === 'timeout' || step.state === 'lost' || step.state === 'unbound') return true
  if (step.isUnrecorded) return true
  return step.findings.some(({ level }) => level !== 'skip')
}

/** Returns true for a step that was not sent only because the value for it did not come. */
function isUnboundOnly(step: ReplayStep): boolean {
  return step.state === 'unbound' && !hasFailed(step)
}

/** Returns true for the recorded handshake, in place of which Reelay does its own. Few readers need to know. */
export function isHandshakeStep({ state, why }: Pick<ReplayStep, 'state' | 'why'>): boolean {
  return state === 'skipped' && why === OWN_HANDSHAKE
}

/** `4 of 5 responses as recorded, 1 differs (values 1), 2 held back`. */
export function countsText({ summary, validation, steps }: RepeatedReport): string {
  const { failed, checked, passed, layers, skipped, unrecorded } = validation
  const isOne = failed === 1
  let left = summary.skipped
  for (const step of summary.skipped === 0 ? [] : steps.outlines()) if (isHandshakeStep(step)) left--
  return [
    `${passed} of ${checked} responses as recorded`,
    ...(failed === 0 ? [] : [`${failed} ${isOne ? 'differs' : 'differ'}${layersText(layers)}`]),
    ...(skipped === 0 ? [] : [`${skipped} not compared`]),
    ...(unrecorded === 0 ? [] : [`${unrecorded} without a response on the tape`]),
    ...(summary.injected === 0
      ? []
      : [`${summary.injected} ${summary.injected === 1 ? 'fault' : 'faults'} injected`]),
    ...(summary.held === 0 ? [] : [`${summary.held} held back`]),
    ...(summary.unbound === 0 ? [] : [`${summary.unbound} not sent for lack of a value`]),
    ...(left === 0 ? [] : [`${left} skipped`]),
  ].join(', ')
}

/** Notifications have no number. */
function numberText(exchange: number | undefined): string {
  return exchange === undefined ? '' : `#${exchange}`
}

/** What was not compared, so that nobody takes it for checked. */
function noiseText({ noise }: RepeatedReport, isVerbose: boolean): readonly string[] {
  const shown = isVerbose || noise.length <= MAX_NOISE ? noise : noise.slice(0, MAX_NOISE - 1)
  const left = noise.length - shown.length
  return [
    ...shown.map(({ method, tool, path, exchanges, inEveryCall, isFromProfile }) => {
      const where = inEveryCall ? `all ${exchanges.length} calls` : exchanges.map(numberText).join(', ')
      const why = isFromProfile ? 'varies as in the noise profile' : 'differs on every run'
      return `noise: ${callName(method, tool)} ${path}: ${why} (${where})`
    }),
    ...(left === 0 ? [] : [`noise: ${left} more places; -v lists them`]),
  ]
}

const MAX_NOISE = 5

/** Slow responses that were slow in some runs only. */
function slowText({ unstable, judgedRuns }: RepeatedReport): readonly string[] {
  return unstable
    .filter(({ finding }) => judgedRuns > 1 && finding.layer === 'timing')
    .map(
      (step) =>
        `unstable: ${exchangeLabel(step)} ${step.finding.layer}: ${step.finding.message} (${runsText(step.inRuns, judgedRuns)})`,
    )
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
      ...(one.recorded === undefined
        ? []
        : [`    recorded  ${describeChange(one.recorded, one.live[0]?.value)[0]}`]),
      ...one.live.map(
        ({ run, value }) =>
          `    run ${run}     ${value === undefined ? 'differs' : describeChange(one.recorded, value)[1]}`,
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

function bindingsText({ bindings }: RepeatedReport, isVerbose: boolean): readonly string[] {
  if (!isVerbose && bindings.every(({ standing }) => standing !== 'refuted')) return []
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

export function verdictText({ summary, validation }: RepeatedReport): string {
  if (summary.sent === 0 && summary.verdict !== 'fail') return 'none, because nothing was sent'
  const isCompared = validation.checked > 0
  const isGreen = summary.verdict === 'pass' || summary.verdict === 'incomplete'
  return isCompared || !isGreen ? VERDICT_TEXT[summary.verdict] : 'none, because no response was compared'
}

function stepLabel(step: ReplayStep): readonly [string, TextStyle] {
  if (step.state === 'timeout' || step.state === 'lost') return [step.state, 'red']
  if (step.state === 'unbound') return ['not sent', hasFailed(step) ? 'red' : 'yellow']
  if (hasFailed(step)) return ['differs', 'red']
  if (isSkippedByRule(step)) return ['skipped', 'yellow']
  if (step.findings.length > 0) return ['warning', 'yellow']
  if (isOpenAsRecorded(step)) return ['open', 'yellow']
  if (step.isUnrecorded) return ['new', 'yellow']
  return step.state === 'done' ? ['ok', 'green'] : [step.state, step.state === 'held' ? 'yellow' : 'dim']
}

/** Returns true for a request that got no answer, now and on the tape. */
function isOpenAsRecorded({ state, recordedId, answer, recordedAnswer, duration }: ReplayStep): boolean {
  const isRequest = recordedId !== undefined && recordedAnswer === undefined
  return state === 'done' && isRequest && answer === undefined && duration === undefined
}

/** One line if it fits, otherwise the two values on lines of their own, so that they can be compared by eye. */
function findingAsText(finding: StepFinding, judgedRuns: number): readonly string[] {
  const { layer, inRuns } = finding
  const { words, sides } = findingParts(finding)
  const runs = judgedRuns === 1 ? [] : [`(${runsText(inRuns, judgedRuns)})`]
  const head = `    ${styleText('yellow', layer.padEnd(9))} `
  const line = [...words, ...sides, ...runs].join('   ')
  if (line.length <= LINE_WIDTH - FINDING_INDENT.length) return [head + escapeControlChars(line)]
  return [
    head + escapeControlChars([...words, ...runs].join('   ')),
    ...sides.map((side) => FINDING_INDENT + escapeControlChars(side.replace(/^now /, 'now      '))),
  ]
}

/** A finding on one line. */
export function findingText(finding: StepFinding): string {
  const { words, sides } = findingParts(finding)
  return [...words, ...sides].join('   ')
}

function findingParts({ message, path, expected, actual, difference }: StepFinding): {
  readonly words: readonly string[]
  readonly sides: readonly string[]
} {
  const [recorded, now] = describeChange(expected, actual, difference?.parts?.[0])
  return {
    words: [path ?? '', message].filter((word) => word !== ''),
    sides: [
      ...(recorded === undefined ? [] : [`recorded ${recorded}`]),
      ...(now === undefined ? [] : [`now ${now}`]),
    ],
  }
}

const LINE_WIDTH = 80
const FINDING_INDENT = ' '.repeat(14)

/** Shows two values, of long ones the part that differs, in the middle of its context. */
function describeChange(
  expected: unknown,
  actual: unknown,
  part?: ChangedPart,
): readonly [string | undefined, string | undefined] {
  if (expected === undefined || actual === undefined) return [describeSide(expected), describeSide(actual)]
  const areTexts = typeof expected === 'string' && typeof actual === 'string'
  const [before, after] = areTexts ? [expected, actual] : [canonicalJson(expected), canonicalJson(actual)]
  const longest = Math.max(before.length, after.length)
  if (part?.from !== undefined && longest > SHOWN) {
    const back = Math.max(MIN_CONTEXT, Math.floor((SHOWN - part.actual.length) / 2))
    const [ours, theirs] = [part.from.expected, part.from.actual].map((from) => Math.max(0, from - back))
    return [excerpt(before, ours ?? 0, areTexts), excerpt(after, theirs ?? 0, areTexts)]
  }
  const start = commonPrefixLength(before, after)
  const changed = longest - commonAffixLength(before, after)
  const context = Math.max(MIN_CONTEXT, Math.floor((SHOWN - changed) / 2))
  const from = Math.max(0, Math.min(start - context, longest - SHOWN))
  return [excerpt(before, from, areTexts), excerpt(after, from, areTexts)]
}

const SHOWN = 54
const MIN_CONTEXT = 12

function describeSide(value: unknown): string | undefined {
  return value === undefined ? undefined : describeValue(value, SHOWN)
}

// A slice may cut a surrogate pair.
const HALF_PAIRS = /^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g

function excerpt(text: string, from: number, isText: boolean): string {
  const end = from + SHOWN
  const part = text.slice(from, end).replace(HALF_PAIRS, '')
  const shown = isText ? JSON.stringify(part).slice(1, -1) : part
  const cut = `${from > 0 ? '…' : ''}${shown}${end < text.length ? '…' : ''}`
  return isText ? `"${cut}"` : cut
}

function callName(method: string, tool: string | undefined): string {
  return tool === undefined ? method : `${method} ${tool}`
}

function layersText(layers: RepeatedReport['validation']['layers']): string {
  const found = Object.entries(layers).filter(([, count]) => count > 0)
  return found.length === 0 ? '' : ` (${found.map(([layer, count]) => `${layer} ${count}`).join(', ')})`
}

/** Calls that could not be sent because those that were held back have the values for them. */
function unboundText({ summary, steps }: RepeatedReport): readonly string[] {
  if (summary.held === 0 || summary.unbound === 0) return []
  const count = [...steps.changed()].filter(isUnboundOnly).length
  if (count === 0) return []
  return [
    count === 1
      ? '1 more call was not sent, because it needs a value from the response to an earlier call; -v shows it'
      : `${count} more calls were not sent, because they need values from the responses to earlier calls; -v shows them`,
  ]
}

/** Responses that differ, perhaps only because a call before them was not sent. */
function incomparableText({ summary, validation }: RepeatedReport): readonly string[] {
  const count = validation.skipped
  if (summary.held === 0 || count === 0) return []
  return [
    count === 1
      ? '1 response differs, perhaps only because an earlier call was not sent; -v shows it'
      : `${count} responses differ, perhaps only because earlier calls were not sent; -v shows them`,
  ]
}

/** How to send the calls that were held back. Those of tools that the server no longer has are only named. */
export function heldText({
  summary: { held },
  steps,
  notes,
}: Pick<ReplayReport, 'summary' | 'steps' | 'notes'>): readonly string[] {
  if (held === 0) return []
  const known = new Set(notes)
  const tools = new Set<string>()
  const lost = new Set<string>()
  let left = held
  for (const { index, state } of steps.outlines()) {
    if (tools.size + lost.size === MAX_HELD_TOOLS) break
    if (state !== 'held') continue
    const tool = steps.at(index)?.tool ?? ''
    const isLost = known.has(lostToolNote(tool))
    if (isLost) left--
    ;(isLost ? lost : tools).add(tool)
  }
  return [
    ...(lost.size === 0 ? [] : [lostToolsText([...lost])]),
    ...(left === 0 ? [] : [heldCallsHint(left, [...tools])]),
  ]
}

function lostToolsText(names: readonly string[]): string {
  const all = names.map((name) => truncateText(name, 60)).join(', ')
  return `the server no longer lists ${all}, so no call of ${names.length === 1 ? 'it' : 'them'} was sent`
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
      finding: findingJson(finding, steps.at(index)?.state ?? 'done'),
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
    findings: step.findings.map((finding) => findingJson(finding, step.state)),
    acceptable: undefined,
  }
}

function findingJson(finding: StepFinding, state: StepState): object {
  const { expected, actual } = finding
  return {
    rule: ruleOfStepFinding(finding, state),
    ...finding,
    difference: undefined,
    isNeverNoise: undefined,
    expected: toSerializable(expected),
    actual: toSerializable(actual),
  }
}

/**
 * Each request with its response, in chunks, with the field names of the session replays that security testers know. If the tape was
 * played several times, the results of each run follow.
 */
export function replayResults({ steps, stepsOfRuns }: RepeatedReport): Iterable<string> {
  return streamJson({
    ...resultLists(steps),
    ...(stepsOfRuns.length > 1 && { runs: new StreamedList(() => resultsOfRuns(stepsOfRuns)) }),
  })
}

function* resultsOfRuns(runs: readonly StepList[]): Generator<object> {
  for (const [index, steps] of runs.entries()) yield { run: index + 1, ...resultLists(steps) }
}

function resultLists(steps: StepList): Readonly<Record<'results' | 'messages', StreamedList>> {
  return {
    results: new StreamedList(() => stepResults(steps)),
    messages: new StreamedList(() => orderedMessages(steps)),
  }
}

function* stepResults(steps: Iterable<ReplayStep>): Generator<object> {
  for (const step of steps) if (step.sent !== undefined) yield stepResultJson(step)
}

function stepResultJson({ frame, method, recordedId, sent, answer, why, duration }: ReplayStep): object {
  return {
    original_request: { id: proxyId(frame), method, jsonrpc_id: recordedId ?? null },
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
    proxy_id: isAnswer ? `${proxyId(frame)}-answer` : proxyId(frame),
    sequence,
    direction: isAnswer ? 'server_to_client' : 'client_to_server',
    jsonrpc_id: member(payload, 'id') ?? null,
    method: isAnswer ? null : method,
    correlated_id: isAnswer ? proxyId(frame) : null,
    payload,
  }
}

/** The name of a recorded message, by which results and messages are joined. `reelay export --format qai` uses the same. */
function proxyId(frame: number): string {
  return `frame-${frame}`
}
