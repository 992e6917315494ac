import { ReelayError } from '../errors.ts'
import { parseFilter, type FilterSubject } from '../filter/filter.ts'
import { parseJson, member } from '../json/parse.ts'
import { formatPath, parsePath } from '../json/path.ts'
import { classifyMessage, toolOrPromptName } from '../protocol/message.ts'
import { exchangeOutcome, type ExchangeOutcome } from '../protocol/outcome.ts'
import { Redactor } from '../redact/redactor.ts'
import type { ReplayStep, StepFinding, StepState } from '../replay/steps/step.ts'
import { ephemeralKey } from '../store/redaction-key.ts'
import type { Turn } from '../tape/turns.ts'
import { suggestName } from '../text.ts'

/** Decides whether a call shows the failure that is looked for. */
export interface Oracle {
  /** As the user wrote it. */
  readonly text: string
  /** True if responses are compared with the tape, so that requests must stay as they were recorded. */
  readonly comparesWithTape: boolean
  /** Returns the failure that a call shows, if it shows one. */
  failureOf(call: ObservedCall): Failure | undefined
}

/** A failure, in words that are equal whenever it is the same failure. */
export interface Failure {
  /** The call that failed, such as `tools/call get_order`. */
  readonly call: string
  /** What happened, without numbers, ids and quoted values, which change from run to run. */
  readonly signature: string
  /** What happened, for people. */
  readonly summary: string
}

/** A call with its response, from the tape or from a live run. */
export interface ObservedCall {
  readonly exchange: number | undefined
  readonly method: string
  readonly request: string
  readonly response: string | undefined
  /** `undefined` for a call on a tape. */
  readonly state: StepState | undefined
  readonly why: string | undefined
  readonly duration: number | undefined
  readonly findings: readonly StepFinding[]
}

export function observeStep(step: ReplayStep): ObservedCall {
  const { exchange, method, sent = '', answer, state, why, duration, findings } = step
  return { exchange, method, request: sent, response: answer, state, why, duration, findings }
}

/** Returns `undefined` for a turn that is not an exchange. */
export function observeTurn({ trigger, response, exchange }: Turn): ObservedCall | undefined {
  if (trigger?.message.kind !== 'request') return undefined
  return {
    exchange,
    method: trigger.message.method,
    request: trigger.text,
    response: response?.text,
    state: undefined,
    why: undefined,
    duration: response && response.t - trigger.t,
    findings: [],
  }
}

/** Whether two failures are the same one. A smaller session must not end in another failure. */
export function isSameFailure(one: Failure, other: Failure): boolean {
  return one.call === other.call && one.signature === other.signature
}

interface Symptom {
  readonly signature: string
  readonly summary: string
}

/** The conditions with a name. */
const NAMED_ORACLES: Readonly<Record<string, (call: ObservedCall) => Symptom | undefined>> = {
  'is-error': (call) => {
    const outcome = outcomeOf(call)
    return outcome.kind === 'tool-error' ? messageSymptom('isError', outcome.message) : undefined
  },
  error: (call) => {
    const outcome = outcomeOf(call)
    return outcome.kind === 'error' ? messageSymptom(`error ${outcome.code}`, outcome.message) : undefined
  },
  crash: ({ state, why = 'the connection was lost' }) =>
    state === 'lost' ? messageSymptom('crash', why) : undefined,
  hang: ({ state, why = 'no response in time' }) =>
    state === 'timeout' ? { signature: 'hang', summary: why } : undefined,
  schema: ({ findings }) => findingSymptom(findings.filter(({ layer }) => layer === 'schema')),
  difference: ({ findings }) => findingSymptom(findings),
  secret: ({ response }) => {
    if (response === undefined) return undefined
    const shown = new Redactor({ key: ephemeralKey() }).text(response)
    return shown === response ? undefined : { signature: 'secret', summary: 'the response contains a secret' }
  },
}

const NAMES = Object.keys(NAMED_ORACLES)

/** Reads a condition: one with a name, such as `is-error`, or a filter, such as `result.structuredContent.total > 100`. */
export function parseOracle(text: string): Oracle {
  const condition = NAMED_ORACLES[text] ?? filterCondition(text)
  return {
    text,
    comparesWithTape: text === 'difference',
    failureOf: (call) => {
      const symptom = condition(call)
      return symptom && { ...symptom, call: callName(call) }
    },
  }
}

function filterCondition(text: string): (call: ObservedCall) => Symptom | undefined {
  const isWord = /^[\w-]+$/.test(text)
  if (isWord)
    throw new ReelayError('USAGE', `there is no failure ${JSON.stringify(text)}${suggestName(text, NAMES)}`, {
      hint: `use ${NAMES.join(', ')}, a filter such as 'result.total > 100', or 'command: npm test'`,
    })
  const filter = parseFilter(text)
  return (call) =>
    filter.matches(subjectOf(call)) ? { signature: text, summary: `the call matches ${text}` } : undefined
}

function outcomeOf({ response }: ObservedCall): ExchangeOutcome {
  const message = response === undefined ? undefined : classifyMessage(parseJson(response))
  return exchangeOutcome(message?.kind === 'response' ? message : undefined, 'unanswered')
}

function messageSymptom(kind: string, message: string): Symptom {
  return {
    signature: `${kind}: ${fixedWords(message)}`,
    summary: message === '' ? kind : `${kind}: ${message.slice(0, MOST_CHARACTERS)}`,
  }
}

const MOST_CHARACTERS = 300

/** The words of a message that are the same in every run: no quoted values, no numbers, ids or hexadecimal texts. */
function fixedWords(message: string): string {
  return message
    .slice(0, MOST_CHARACTERS)
    .replaceAll(/(["'`]).*?\1/g, '…')
    .replaceAll(/[\w.:/-]*\d[\w.:/-]*/g, '#')
    .trim()
}

function findingSymptom(findings: readonly StepFinding[]): Symptom | undefined {
  const finding = findings.find(({ level }) => level === 'error')
  if (finding === undefined) return undefined
  const { layer, path, message } = finding
  const where = path === undefined ? fixedWords(message) : pathPattern(path)
  return { signature: `${layer} ${where}`, summary: message }
}

/** A path without the indexes of its items. */
function pathPattern(path: string): string {
  try {
    return formatPath(parsePath(path).map((segment) => (typeof segment === 'number' ? 0 : segment)))
  } catch {
    return path // it is not a path in a message
  }
}

function callName({ method, request }: ObservedCall): string {
  const message = classifyMessage(parseJson(request))
  const target = message.kind === 'request' ? toolOrPromptName(message) : undefined
  return target === undefined ? method : `${method} ${target}`
}

function subjectOf(call: ObservedCall): FilterSubject {
  const request = parseJson(call.request)
  const response = call.response === undefined ? undefined : parseJson(call.response)
  const message = classifyMessage(request)
  return {
    exchange: call.exchange,
    kinds: call.response === undefined ? ['request'] : ['request', 'response'],
    dirs: call.response === undefined ? ['c2s'] : ['c2s', 's2c'],
    methods: [call.method],
    target: message.kind === 'request' ? toolOrPromptName(message) : undefined,
    status: outcomeOf(call).kind,
    durationMs: call.duration,
    texts: () => [call.request, ...(call.response === undefined ? [] : [call.response])],
    value: (root) => (root === 'params' ? member(request, 'params') : member(response, root)),
  }
}
