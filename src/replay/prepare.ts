import type { FoundBindings } from '../bindings/binding.ts'
import type { Request } from '../protocol/message.ts'
import { newestSessionRevision } from '../protocol/revisions/index.ts'
import type { IsLiveValue, SessionTimes } from '../diff/noise/noise-kind.ts'
import type { JudgeOptions } from './judge/comparison-rules.ts'
import { judgeAnswer, type Judges } from './judge/judge.ts'
import { OfficialJudge } from './judge/official-schema.ts'
import { OutputSchemaJudge } from './judge/output-schema.ts'
import { ResourceUpdatesJudge } from './judge/resource-updates.ts'
import { ServerRequestJudge } from './judge/server-requests.ts'
import { TrailingChecks } from './judge/trailing-notifications.ts'
import { ValuesJudge } from './judge/values.ts'
import { handshakeNotes, ReplayNotes } from './notes.ts'
import { DEFAULT_TIMEOUT, type RunOptions, SERVER_GRACE } from './options.ts'
import type { PlannedMessage, ReplayPlan } from './plan/plan.ts'
import { planMessages } from './plan/planner.ts'
import { linkNameOf, ProtocolRevisions } from './plan/revisions.ts'
import { scheduleMessages } from './plan/schedule.ts'
import { turnsAtPlaces, type ServerPart } from './plan/server-part.ts'
import { fetchTools, requestEnvelope, toolsOnTape, type ToolDescriptions } from './plan/tool-safety.ts'
import { CancellableCalls } from './send/cancellations.ts'
import { createErrorInjector } from './send/error-injection.ts'
import { MessageSender } from './send/message-sender.ts'
import type { SendRun } from './send/send-in-order.ts'
import { InputRounds } from './session/input-rounds.ts'
import { LiveSessions } from './session/live-sessions.ts'
import { RecordedAnswers } from './session/recorded-answers.ts'
import { createCarriedValues, NO_CARRIED_VALUES, type CarriedValues } from './values/carried-values.ts'
import type { TurnStore } from '../tape/turns.ts'
import type { Turn } from '../tape/turn.ts'

/** What a run needs, with the link to the live server open. */
export interface PreparedRun extends Pick<SendRun, 'order' | 'ready' | 'perform' | 'release'> {
  readonly plan: ReplayPlan
  readonly correlate: FoundBindings | false
  /** Undefined when nothing is compared. */
  readonly trailingChecks: TrailingChecks | undefined
  /** What would be sent now; undefined when a value that it needs is not known. */
  readonly preview: (planned: PlannedMessage) => string | undefined
  readonly notes: Iterable<string>
  readonly liveValueOf: CarriedValues['liveValueOf']
  close(): Promise<void>
}

/** Opens the conversation, and makes the plan of what is sent. */
export async function prepareRun(part: ServerPart, options: RunOptions): Promise<PreparedRun> {
  const notes = new ReplayNotes()
  const carried: { carrier: CarriedValues } = { carrier: NO_CARRIED_VALUES }
  const revisions = new ProtocolRevisions(turnsAtPlaces(part.turns, part.landmarks.handshakes))
  const answers = createRecordedAnswers(part, options, () => carried.carrier)
  const unknown = new WeakSet<Request>()
  const links = createLiveSessions(part, options, { notes, revisions, answers, unknown })
  options.watch.connected(() => links.traffic())
  try {
    // The server starts while the tape is looked through.
    const [tools, correlate] = await Promise.all([loadTools(part, options, links), options.bindings()])
    const plan = planMessages(part.turns, options, tools)
    const carrier = createCarriedValues(plan, correlate)
    carried.carrier = carrier
    const judges = createJudges(options, {
      carrier,
      tools,
      revisions,
      notes,
      plan,
      turns: part.turns,
      unknown,
    })
    const judgeUpdates = createUpdatesJudge(plan, options, carrier)
    const rounds = createInputRounds(plan.hasRounds ? part.turns : [], { answers, notes })
    const performer = createMessageSender({ options, links, carrier, rounds, judges, plan, judgeUpdates })
    const order = scheduleMessages(plan, options.ordering ?? { kind: 'correlated' }, (index) =>
      carrier.producersOf(index),
    )
    return {
      plan,
      correlate,
      trailingChecks: createTrailingChecks({ plan, options, links, judgeUpdates }),
      order,
      ready: (planned) => performer.waitForServer(planned),
      perform: (planned, performance) => {
        options.watch.stepStarted(planned.index)
        performer.send(planned, performance)
      },
      release: () => performer.release(),
      preview: (planned) => performer.preview(planned),
      notes,
      liveValueOf: (binding) => carrier.liveValueOf(binding),
      close: () => links.close(),
    }
  } catch (error) {
    await links.close()
    throw error
  }
}

/** Most servers ask nothing: then the tape is not looked through for answers. */
function createRecordedAnswers(
  { turns }: ServerPart,
  { onAsk = 'decline' }: RunOptions,
  carrier: () => CarriedValues,
): () => RecordedAnswers {
  let answers: RecordedAnswers | undefined
  return () => (answers ??= new RecordedAnswers(turns, { policy: onAsk, carrier }))
}

function createLiveSessions(
  part: ServerPart,
  { target, handshake = 'own', timeout = DEFAULT_TIMEOUT, now, signal, controller }: RunOptions,
  {
    notes,
    revisions,
    answers,
    unknown,
  }: {
    notes: ReplayNotes
    revisions: ProtocolRevisions
    answers: () => RecordedAnswers
    unknown: WeakSet<Request>
  },
): LiveSessions {
  const { turns, landmarks } = part
  return new LiveSessions({
    open: target.open,
    handshake,
    handshakeTurns: turnsAtPlaces(turns, [...landmarks.handshakes, landmarks.firstEnveloped]),
    revision: part.revision.revision ?? newestSessionRevision(),
    timeout,
    now,
    signal,
    stopped: controller.stopped,
    onHandshake: (greeting, link) => {
      notes.push(...handshakeNotes(greeting, turnsAtPlaces(turns, landmarks.handshakes)))
      if (greeting.version !== undefined) revisions.setLive(link, greeting.version)
    },
    onOddity: (oddity) => notes.push(oddity),
    onAsk: async (request) => {
      const { outcome, report } = await answers().answer(request)
      if (report.by === 'own') {
        unknown.add(request)
        notes.push(`the server asked ${report.method}, which was not recorded: answered by policy`)
      }
      return outcome
    },
  })
}

/** What the live server says of its tools counts more than what the recorded one said. */
async function loadTools(
  part: ServerPart,
  { handshake = 'own', timeout = DEFAULT_TIMEOUT }: RunOptions,
  links: LiveSessions,
): Promise<ToolDescriptions> {
  const [call] = turnsAtPlaces(part.turns, [part.landmarks.firstCall])
  if (call?.trigger === undefined || handshake !== 'own') return toolsOnTape(part)
  const params = 'params' in call.trigger.message ? call.trigger.message.params : undefined
  const [first] = turnsAtPlaces(part.turns, [part.landmarks.first])
  const session = await links.sessionOf(first === undefined ? '0' : linkNameOf(first))
  const live = await fetchTools(session, { envelope: requestEnvelope(params), timeout })
  return live.size === 0 ? toolsOnTape(part) : live
}

function createInputRounds(
  turns: Iterable<Turn>,
  { answers, notes }: { answers: () => RecordedAnswers; notes: ReplayNotes },
): InputRounds {
  return new InputRounds(turns, {
    ask: async (request) => (await answers().answer(request)).outcome,
    onNote: (note) => notes.push(note),
  })
}

/** A run whose link is open. */
interface OpenRun {
  readonly options: RunOptions
  readonly links: LiveSessions
  readonly plan: ReplayPlan
  readonly judgeUpdates: ResourceUpdatesJudge['judge']
}

const DEFAULT_RETRY_DELAY = 500

/** What sends the messages, by the options of the run. */
function createMessageSender({
  options,
  links,
  carrier,
  rounds,
  judges,
  plan,
  judgeUpdates,
}: OpenRun & { carrier: CarriedValues; rounds: InputRounds; judges: Judges }): MessageSender {
  const {
    rules = [],
    updateTimestamps,
    injection,
    timeout = DEFAULT_TIMEOUT,
    onError,
    maxRetries = 3,
    retryDelay = DEFAULT_RETRY_DELAY,
    controller,
    now,
  } = options
  return new MessageSender({
    sessionOf: (link) => links.sessionOf(link),
    openSessionOf: (link) => links.openSessionOf(link),
    judgeUpdates,
    calls: new CancellableCalls(plan.cancelled),
    carrier,
    rounds,
    rules,
    ...(updateTimestamps && { moveTimes: (at: number) => Date.now() - (Date.parse(options.started) + at) }),
    ...(injection && { inject: createErrorInjector(injection) }),
    judge: (judged) => judgeAnswer(judged, judges),
    timeout,
    retries: maxRetries,
    retriesLost: onError === 'retry',
    retryDelay,
    controller,
    keepsIds: options.transformIds === false,
    now,
  })
}

/** What waits for the last words of the server; undefined when nothing is compared. */
function createTrailingChecks({ plan, options, links, judgeUpdates }: OpenRun): TrailingChecks | undefined {
  const { validate, strict, onError, signal, controller } = options
  if (validate === false) return undefined
  return new TrailingChecks({
    plan,
    notificationsOn: (link) => links.openSessionOf(link)?.notifications,
    grace: SERVER_GRACE,
    pausesOnFailure: onError === 'pause',
    isStrict: strict === true,
    isStopped: () => signal?.aborted === true || controller.status === 'stopped',
    judgeUpdates,
  })
}

interface JudgedRunOptions extends JudgeOptions {
  /** When the recording began. */
  readonly started: string
  readonly now: () => number
}

interface JudgeContext {
  readonly carrier: CarriedValues
  readonly tools: ToolDescriptions
  readonly revisions: ProtocolRevisions
  readonly notes: ReplayNotes
  readonly plan: ReplayPlan
  readonly turns: TurnStore
  readonly unknown: WeakSet<Request>
}

/** The judges of a run, each with what it is to know. */
function createJudges(
  options: JudgedRunOptions,
  { carrier, tools, revisions, notes, plan, turns, unknown }: JudgeContext,
): Judges {
  const use = options.validate === false ? 'off' : (options.officialSchema ?? 'changed')
  const official = new OfficialJudge({ use, revisions, turns, onNote: (note) => notes.push(note) })
  const isLiveValue: IsLiveValue = (expected, actual, path) => carrier.explains(expected, actual, path)
  const values = new ValuesJudge({ judging: options, isLiveValue, clock: sessionTimes(options, plan) })
  const isUnknown = (question: Request): boolean => unknown.has(question)
  const serverRequests = new ServerRequestJudge({ judging: options, isLiveValue, isUnknown })
  return {
    schema: new OutputSchemaJudge(() => tools),
    official,
    values,
    serverRequests,
    judging: options,
  }
}

/** Judges word of changed resources, which belongs to no answer. */
function createUpdatesJudge(
  plan: ReplayPlan,
  judging: JudgeOptions,
  carrier: CarriedValues,
): ResourceUpdatesJudge['judge'] {
  const judge = new ResourceUpdatesJudge({
    judging,
    isLiveValue: (expected, actual, path) => carrier.explains(expected, actual, path),
    recordedOn: (link) => plan.resourceUpdatesOn(link),
    grace: SERVER_GRACE,
  })
  return (told) => judge.judge(told)
}

/** A time that lies in the recording, where one in the run has taken its place, is the time of day and no change. */
function sessionTimes({ started, now }: JudgedRunOptions, { ended }: ReplayPlan): SessionTimes {
  const [from, began] = [Date.parse(started), Date.now() - now()]
  return { recorded: { from, to: from + ended }, live: () => ({ from: began, to: Date.now() }) }
}
