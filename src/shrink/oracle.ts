import { ReelayError } from '../errors.ts'
import { parseFilter, type FilterSubject } from '../filter/filter.ts'
import { canonicalJson } from '../json/canonical.ts'
import { parseJson, member } from '../json/parse.ts'
import { formatPath, parsePath } from '../json/path.ts'
import { classifyMessage, INTERNAL_ERROR, toolOrPromptName } from '../protocol/message.ts'
import { exchangeOutcome, type ExchangeOutcome } from '../protocol/outcome.ts'
import { Redactor } from '../redact/redactor.ts'
import { IsolationWatch } from './isolation.ts'
import { CANARY } from './canary.ts'
import { findLeak, INJECTION } from './leaks.ts'
import type { StepFinding } from '../replay/steps/step.ts'
import { ephemeralKey } from '../store/redaction-key.ts'
import { suggestName } from '../text.ts'
import { type Failure, isSameFailure, type ObservedCall, type Watch, type WatchedSession } from './watch.ts'

/** Decides whether a call shows the failure that is looked for. */
export interface Oracle {
  /** As the user wrote it. */
  readonly text: string
  /** True if responses are compared with the tape, so that requests must stay as they were recorded. */
  readonly comparesWithTape: boolean
  /** Begins to watch a run, or the calls on a tape. */
  watch(session: WatchedSession): Watch
}

type Symptom = Pick<Failure, 'signature' | 'summary' | 'value'>

type SymptomOf = (call: ObservedCall, session: WatchedSession) => Symptom | undefined

/** The conditions with a name that look at one call at a time. */
const CALL_ORACLES: Readonly<Record<string, SymptomOf>> = {
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
  difference: ({ findings }) => {
    const symptom = findingSymptom(findings)
    const actual = findings.find(({ level }) => level === 'error')?.actual
    return symptom && { ...symptom, value: actual === undefined ? undefined : canonicalJson(actual) }
  },
  secret: ({ response }) => {
    if (response === undefined) return undefined
    const shown = new Redactor({ key: ephemeralKey() }).text(response)
    return shown === response ? undefined : { signature: 'secret', summary: 'the response contains a secret' }
  },
  'internal-error': (call) => {
    const outcome = outcomeOf(call)
    if (outcome.kind === 'error' && outcome.code === INTERNAL_ERROR)
      return messageSymptom(`error ${outcome.code}`, outcome.message)
    const text = outcome.kind === 'error' || outcome.kind === 'tool-error' ? outcome.message : ''
    return RUNTIME_ERROR.test(text) ? messageSymptom('internal error', text) : undefined
  },
  traversal: ({ response = '', request }) =>
    response.includes(CANARY) && !request.includes(CANARY)
      ? { signature: 'traversal', summary: 'the response contains a file outside of what the server offers' }
      : undefined,
  injection: ({ response = '', request }) =>
    response.includes(INJECTION) && request.includes(INJECTION)
      ? { signature: 'injection', summary: 'the result repeats an order to a model from an argument' }
      : undefined,
  leak: (call, session) => leakSymptom(call, outcomeOf(call), session),
}

/** The conditions with a name that look at a whole run. */
const RUN_ORACLES: Readonly<Record<string, (session: WatchedSession) => Watch>> = {
  protocol: () => new ProtocolWatch(),
  isolation: () => new IsolationWatch(),
}

const NAMES = [...Object.keys(CALL_ORACLES), ...Object.keys(RUN_ORACLES)]

/** Reads a condition: one with a name, such as `is-error`, or a filter, such as `result.structuredContent.total > 100`. */
export function parseOracle(text: string): Oracle {
  const watchRun = Object.hasOwn(RUN_ORACLES, text) ? RUN_ORACLES[text] : undefined
  if (watchRun !== undefined) return { text, comparesWithTape: false, watch: watchRun }
  const named = Object.hasOwn(CALL_ORACLES, text) ? CALL_ORACLES[text] : undefined
  const condition = named ?? filterCondition(text)
  return {
    text,
    comparesWithTape: text === 'difference',
    watch: (session) => ({
      failureOf: (call) => {
        const symptom = condition(call, session)
        return symptom && { ...symptom, call: call.name }
      },
    }),
  }
}

/** An oracle that looks for several failures, and says which condition each one meets. */
export function anyOracle(names: readonly string[]): Oracle {
  const oracles = names.map(parseOracle)
  return {
    text: names.join(' or '),
    comparesWithTape: false,
    watch: (session) => {
      const watches = oracles.map((oracle) => ({ fails: oracle.text, watch: oracle.watch(session) }))
      const first = (ask: (watch: Watch) => Failure | undefined): Failure | undefined => {
        // Each watch sees every call, because it may remember what it saw.
        const found = watches.flatMap(({ fails, watch }) => {
          const failure = ask(watch)
          return failure === undefined ? [] : [{ ...failure, fails }]
        })
        return found[0]
      }
      return {
        failureOf: (call) => first((watch) => watch.failureOf(call)),
        failureIn: (notes) => first((watch) => watch.failureIn?.(notes)),
      }
    },
  }
}

/** An oracle that sees only one failure. */
export function onlyFailure(oracle: Oracle, wanted: Failure): Oracle {
  const ifWanted = (failure: Failure | undefined): Failure | undefined =>
    failure !== undefined && isSameFailure(failure, wanted) ? failure : undefined
  return {
    ...oracle,
    watch: (session) => {
      const watch = oracle.watch(session)
      return {
        failureOf: (call) => ifWanted(watch.failureOf(call)),
        failureIn: (notes) => ifWanted(watch.failureIn?.(notes)),
      }
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

/** The messages of exceptions that nobody caught on purpose, as runtimes and databases write them. */
const RUNTIME_ERROR =
  /Cannot (?:read|set) propert(?:y|ies) .{0,80}of (?:undefined|null)|(?:undefined|null) is not (?:an object|a function|iterable)|\b[\w.$]+ is not (?:a function|iterable|a constructor)\b|Maximum call stack size exceeded|Cannot convert undefined or null to object|Invalid array length|Converting circular structure|Unexpected token .{0,40}(?:in|is not valid) JSON|Unexpected end of JSON input|'NoneType' object|\b(?:Key|Attribute|Index|Type|ZeroDivision|Recursion|UnboundLocal|Unicode\w+)Error\b|list index out of range|NullPointerException|nil pointer dereference|index out of range \[|\bpanic:|panicked at|\bSQLITE_[A-Z]+|constraint failed|ORA-\d{5}|syntax error at or near|\binternal (?:server )?error\b|unhandled (?:exception|rejection)|segmentation fault|stack overflow/i

class ProtocolWatch implements Watch {
  #isLate = false

  failureOf(call: ObservedCall): Failure | undefined {
    const { findings, state, method, name } = call
    // A response may come after its request was given up.
    this.#isLate ||= state === 'timeout' || state === 'lost' || method === 'notifications/cancelled'
    const symptom = findingSymptom(
      findings.filter(({ layer, path }) => layer === 'transport' && path === undefined),
    )
    const isAnswered = state === 'done'
    return isAnswered && symptom ? { ...symptom, call: name } : undefined
  }

  failureIn(notes: readonly string[]): Failure | undefined {
    const pattern = this.#isLate ? INVALID_NOTE : PROTOCOL_NOTE
    const note = notes.find((each) => pattern.test(each))
    return note === undefined ? undefined : { ...messageSymptom('protocol', note), call: 'the server' }
  }
}

const INVALID_NOTE = /^the server sent an invalid message/
const PROTOCOL_NOTE =
  /^the server sent an invalid message|^the server answered .*(?:a second time|not the id of any request)/

function leakSymptom(
  call: ObservedCall,
  outcome: ExchangeOutcome,
  session: WatchedSession,
): Symptom | undefined {
  const leak = findLeak(call, outcome, session)
  return leak === undefined ? undefined : { signature: leak.split(':')[0] ?? leak, summary: leak }
}

function outcomeOf({ response }: ObservedCall): ExchangeOutcome {
  const message = response === undefined ? undefined : classifyMessage(parseJson(response))
  return exchangeOutcome(message?.kind === 'response' ? message : undefined, 'unanswered')
}

function messageSymptom(kind: string, message: string): Symptom {
  return {
    signature: `${kind}: ${fixedWords(message)}`,
    summary: message === '' ? kind : `${kind}: ${message.split('\n', 1)[0]?.slice(0, MOST_CHARACTERS)}`,
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
  return { signature: `${layer} ${where}`, summary: path === undefined ? message : `${path} ${message}` }
}

/** A path without the indexes of its items. */
function pathPattern(path: string): string {
  try {
    return formatPath(parsePath(path).map((segment) => (typeof segment === 'number' ? 0 : segment)))
  } catch {
    return path // it is not a path in a message
  }
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
