import { isObject, member } from '../json/parse.ts'
import { META_KEYS, METHOD_NOT_FOUND, metaValue, requestTarget } from '../protocol/message.ts'
import type { Revision } from '../protocol/revisions/revision.ts'
import {
  ASKING_METHODS,
  LIST_CHANGES,
  RESOURCE_NOT_FOUND,
  URL_ELICITATION_REQUIRED,
} from '../protocol/translation/forms.ts'
import type { Frame } from '../tape/frame.ts'
import { messagesOfTurn, type Turn } from '../tape/turns.ts'
import {
  EXCHANGE_CLASSES,
  migrationRule,
  type ExchangeClass,
  type MigrationRuleId,
} from './migration-rules.ts'

/** What becomes of one message of the client, with everything that followed from it. */
export interface ClassedTurn {
  /** `undefined` for a notification. */
  readonly exchange: number | undefined
  readonly frame: number
  readonly method: string
  readonly target: string | undefined
  readonly becomes: ExchangeClass
  readonly rules: readonly MigrationRuleId[]
}

export interface Migration {
  readonly from: Revision
  readonly to: Revision
  readonly turns: readonly ClassedTurn[]
  /** Rules about the connection, and not about one message. */
  readonly connection: readonly MigrationRuleId[]
}

/** Says for each exchange of a tape what becomes of it in a revision of the other era. In the same era, everything stays the same. */
export function classifyMigration(
  turns: Iterable<Turn>,
  {
    from,
    to,
    rest = [],
  }: { readonly from: Revision; readonly to: Revision; readonly rest?: readonly Frame[] },
): Migration {
  const isCrossing = from.isStateless !== to.isStateless
  const changes = to.isStateless ? TO_STATELESS : TO_SESSION
  const classed = Array.from(turns, (turn) => classifyTurn(turn, isCrossing ? changes : []))
  return {
    from,
    to,
    turns: classed.filter((turn) => turn !== undefined),
    connection: isCrossing && to.isStateless ? connectionRules(rest) : [],
  }
}

export function countClasses(turns: readonly ClassedTurn[]): Readonly<Record<ExchangeClass, number>> {
  const counts = { same: 0, translated: 0, dropped: 0, 'no equivalent': 0 }
  for (const { becomes, exchange } of turns) if (exchange !== undefined) counts[becomes]++
  return counts
}

function classifyTurn(turn: Turn, changes: readonly Change[]): ClassedTurn | undefined {
  const message = turn.trigger?.message
  const isCall = message?.kind === 'request' || message?.kind === 'notification'
  if (turn.trigger !== undefined && !isCall) return undefined
  const facts = factsOf(turn)
  const rules = changes.flatMap(([rule, applies]) => (applies(facts) ? rule : []))
  // A session is confirmed by a notification that has no counterpart, like its request.
  if (turn.trigger === undefined && rules.length === 0) return undefined
  return {
    exchange: turn.exchange,
    frame: messagesOfTurn(turn)[0]?.n ?? 0,
    method: facts.method,
    target: requestTarget(facts.params),
    becomes: worstClass(rules),
    rules,
  }
}

function worstClass(rules: readonly MigrationRuleId[]): ExchangeClass {
  const ranks = rules.map((rule) => EXCHANGE_CLASSES.indexOf(migrationRule(rule).becomes))
  return EXCHANGE_CLASSES[Math.max(0, ...ranks)] ?? 'same'
}

interface TurnFacts {
  /** Empty for messages that the server sent before any of the client. */
  readonly method: string
  readonly params: unknown
  readonly isPartOfBatch: boolean
  readonly result: unknown
  readonly errorCode: unknown
  /** The requests of the server, with the outcome of the client's answers. */
  readonly asked: readonly { readonly method: string; readonly params: unknown; readonly outcome: unknown }[]
  /** The methods of the server's notifications. */
  readonly told: readonly string[]
}

function factsOf({ trigger, response, steps }: Turn): TurnFacts {
  const message = trigger?.message
  const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
  return {
    method: message !== undefined && 'method' in message ? message.method : '',
    params: message !== undefined && 'params' in message ? message.params : undefined,
    isPartOfBatch: trigger?.item !== undefined,
    result: member(outcome, 'result'),
    errorCode: member(member(outcome, 'error'), 'code'),
    asked: steps.flatMap((step) => {
      if (step.kind !== 'ask' || step.request.message.kind !== 'request') return []
      const answer = step.answer?.message
      const { method, params } = step.request.message
      return [{ method, params, outcome: answer?.kind === 'response' ? answer.outcome : undefined }]
    }),
    told: steps.flatMap((step) =>
      step.kind === 'notify' && step.message.message.kind === 'notification'
        ? step.message.message.method
        : [],
    ),
  }
}

type Change = readonly [rule: MigrationRuleId, applies: (turn: TurnFacts) => boolean]

const asks = (method: string) => (turn: TurnFacts) => turn.asked.some((each) => each.method === method)
const tells = (method: string) => (turn: TurnFacts) => turn.told.includes(method)
const isMethod =
  (...methods: readonly string[]) =>
  (turn: TurnFacts) =>
    methods.includes(turn.method)

const TO_STATELESS: readonly Change[] = [
  ['era-handshake', isMethod('initialize')],
  ['era-batch', ({ isPartOfBatch }) => isPartOfBatch],
  ['era-ping', isMethod('ping')],
  ['era-log-level', isMethod('logging/setLevel')],
  ['era-log-message', tells('notifications/message')],
  ['era-subscribe', isMethod('resources/subscribe', 'resources/unsubscribe')],
  ['era-list-changed', ({ told }) => told.some((method) => LIST_CHANGES.has(method))],
  [
    'era-input-request',
    ({ method, asked }) => mayAsk(method) && asked.some((each) => each.method !== 'ping'),
  ],
  [
    'era-request-outside-call',
    ({ method, asked }) => !mayAsk(method) && asked.some((each) => each.method !== 'ping'),
  ],
  [
    'era-input-error',
    ({ asked }) =>
      asked.some(
        ({ method, outcome }) =>
          method !== 'ping' && method !== ELICITATION && member(outcome, 'error') !== undefined,
      ),
  ],
  ['era-roots', asks('roots/list')],
  ['era-sampling', asks('sampling/createMessage')],
  ['era-roots-changed', isMethod('notifications/roots/list_changed')],
  [
    'era-tasks',
    (turn) =>
      isMethod('tasks/get', 'tasks/result', 'tasks/cancel')(turn) ||
      member(turn.params, 'task') !== undefined ||
      turn.told.includes('notifications/tasks/status'),
  ],
  ['era-task-list', isMethod('tasks/list')],
  ['era-error-code', ({ errorCode }) => errorCode === RESOURCE_NOT_FOUND],
  [
    'era-url-elicitation',
    ({ errorCode, asked }) =>
      errorCode === URL_ELICITATION_REQUIRED || asked.some(({ params }) => member(params, 'mode') === 'url'),
  ],
  ['era-url-complete', tells('notifications/elicitation/complete')],
  ['era-reserved-code', ({ errorCode }) => isReserved(errorCode) && errorCode !== URL_ELICITATION_REQUIRED],
]

const ELICITATION = 'elicitation/create'

function mayAsk(method: string): boolean {
  return ASKING_METHODS.has(method) || method === 'tasks/result'
}

function isReserved(code: unknown): boolean {
  return typeof code === 'number' && code <= -32020 && code >= -32099
}

const TO_SESSION: readonly Change[] = [
  ['era-discover', isMethod('server/discover')],
  [
    'era-input-round',
    ({ result, params }) =>
      isObject(member(result, 'inputRequests')) || isObject(member(params, 'inputResponses')),
  ],
  [
    'era-retry',
    ({ result, params }) =>
      (member(result, 'resultType') === 'input_required' && !isObject(member(result, 'inputRequests'))) ||
      (member(params, 'requestState') !== undefined && !isObject(member(params, 'inputResponses'))),
  ],
  ['era-listen', isMethod('subscriptions/listen')],
  ['era-request-log-level', ({ params }) => metaValue(params, META_KEYS.logLevel) !== undefined],
  [
    'era-task-extension',
    (turn) =>
      isMethod('tasks/get', 'tasks/update', 'tasks/cancel')(turn) ||
      member(turn.result, 'resultType') === 'task',
  ],
  [
    'era-protocol-error',
    ({ errorCode }) => errorCode === -32020 || errorCode === -32021 || errorCode === -32022,
  ],
  [
    'era-session-method',
    ({ method, errorCode }) => SESSION_METHODS.has(method) && errorCode === METHOD_NOT_FOUND,
  ],
  [
    'era-structured-content',
    ({ result }) => {
      const content = member(result, 'structuredContent')
      return content !== undefined && !isObject(content)
    },
  ],
  ['era-log-message', tells('notifications/message')],
]

const SESSION_METHODS: ReadonlySet<string> = new Set([
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
])

/** What the HTTP frames show. A tape of stdio has none. */
function connectionRules(rest: readonly Frame[]): readonly MigrationRuleId[] {
  const found = new Set<MigrationRuleId>()
  for (const frame of rest) {
    if (frame.kind !== 'http') continue
    const { http } = frame
    const names = new Set(http.headers.map(([name]) => name.toLowerCase()))
    if (names.has('mcp-session-id')) found.add('era-session-id')
    if (!('method' in http)) continue
    found.add('era-http-headers')
    if (http.method === 'GET') found.add('era-event-stream')
    if (http.method === 'DELETE') found.add('era-session-id')
    if (/\/(?:sse|messages?)\b/.test(http.path) && http.method === 'GET') found.add('era-sse')
  }
  return [...found]
}
