import { suggestName } from '../text.ts'
import type { Binding, FoundBindings } from '../bindings/binding.ts'
import { ReplayController } from './control/controller.ts'
import { type Stop, StopQueue } from './control/stops.ts'
import { LiveRun } from './live-run.ts'
import { IdentityJudge } from './judge/identity.ts'
import { judgeMessage } from './judge/judge.ts'
import { UnsolicitedMessages } from './judge/unsolicited-messages.ts'
import { lostToolNote, tapeNotes } from './notes.ts'
import { DEFAULT_START_TIMEOUT, type ReplayOptions } from './options.ts'
import { DEFAULT_TIMEOUT } from './session/deadlines.ts'
import { isSelected, type ReplayPlan, planMessages, unmatchedPatterns } from './plan/plan.ts'
import { scheduleMessages } from './plan/schedule.ts'
import { type ReplayedTape, selectServerPart, type ServerPart } from './plan/server-part.ts'
import { toolsAtStart, toolsOnTape, listBeforeCalls, type ToolDescriptions } from './plan/tool-safety.ts'
import { createReport, failedSteps, type ReplayReport } from './report.ts'
import { Batches } from './send/batches.ts'
import { EarlyRequests } from './send/early-requests.ts'
import {
  Cancellations,
  sendAndJudge,
  type SendContext,
  type SentMessage,
  unsent,
} from './send/send-message.ts'
import { type RequestFaults, requestFaults } from './send/request-faults.ts'
import { sendInOrder } from './send/send-in-order.ts'
import { InputRounds } from './session/input-rounds.ts'
import { SERVER_GRACE } from './session/live-notifications.ts'
import { liveSecrets, type LiveSecrets, withLiveSecrets } from './session/live-secrets.ts'
import { Peer } from './session/peer.ts'
import { RunMonitor, type RunState, RunTotals } from './steps/run-totals.ts'
import { StepLog, type StepList } from './steps/step-log.ts'
import { hasFailed, type ReplayStep } from './steps/step.ts'
import {
  carriedBinding,
  type CarriedBinding,
  type CarriedValues,
  createCarriedValues,
} from './values/carried-values.ts'
import { dropLeftOutProducers } from './values/left-out-producers.ts'
import { bindingsOfPart } from './values/tape-bindings.ts'
import { createJudges } from './judge/judges.ts'
import type { Turn } from '../tape/turns.ts'
import type { TransformRule } from './transform/rule.ts'

/** A run: its steps as they are done, and the report at the end. */
export interface Replay extends AsyncIterable<ReplayStep> {
  readonly controller: ReplayController
  /** In a run with the timing `stepped`, each message before it is sent. The run waits for a decision about it. */
  readonly stops: AsyncIterable<Stop>
  /** Returns the progress of the run at this moment. */
  state(): RunState
  /** Resolves when the run is over, whether or not its steps were read. */
  readonly report: Promise<ReplayReport>
}

/**
 * Plays the recorded client against a live server.
 *
 * @example
 * const run = replay(await loadTape('search.tape.jsonl'), { target: commandTarget(['node', 'server.js']) })
 * for await (const step of run) console.log(step.method, step.findings.length)
 * const { summary } = await run.report
 */
export function replay(tape: ReplayedTape, options: ReplayOptions): Replay {
  const { signal, bufferSize, keepTexts = DEFAULT_KEEP_TEXTS } = options
  const controller = options.controller ?? new ReplayController()
  const log = new StepLog({ bufferSize, keepTexts })
  const monitor = new RunMonitor(controller)
  const stops = new StopQueue(controller)
  if (options.timing?.kind === 'stepped') stops.open()
  controller.start()
  if (signal?.aborted === true) controller.stop()
  signal?.addEventListener('abort', () => controller.stop(), { once: true })
  const report = runReplay(tape, { ...options, controller, monitor, log }).finally(() => {
    monitor.stop()
    controller.finish()
    stops.close()
  })
  report.then(
    () => log.close(),
    (error: unknown) => log.fail(error),
  )
  return {
    controller,
    report,
    stops,
    state: () => monitor.state(),
    [Symbol.asyncIterator]: () => log[Symbol.asyncIterator](),
  }
}

const DEFAULT_KEEP_TEXTS = 50_000

interface RunOptions extends ReplayOptions {
  readonly controller: ReplayController
  readonly monitor: RunMonitor
  readonly log: StepLog
}

/** Connects to the server, plays the client and makes the report. */
async function runReplay(tape: ReplayedTape, options: RunOptions): Promise<ReplayReport> {
  const {
    target,
    handshake = 'own',
    asRecordedClient = false,
    timeout,
    startTimeout = DEFAULT_START_TIMEOUT,
    onAsk = 'decline',
    signal,
    controller,
  } = options
  const began = performance.now()
  const now = (): number => performance.now() - began
  const faults = requestFaults(options) // throws for a fault that replay does not support, before the server is started
  const part = await selectServerPart(tape, options.server)
  const secrets = options.secrets ?? liveSecrets(tape.header)
  const open = secrets === undefined ? target.open : withLiveSecrets(target.open, secrets)
  const identity = new IdentityJudge({
    isStrict: options.strict === true && options.validate !== false,
    onNote: (note) => peer.notes.push(note),
  })
  const onOpening = identity.compareOpenings.bind(identity)
  const peer = new Peer(part, {
    open,
    handshake,
    asRecordedClient,
    timeout: timeout ?? DEFAULT_TIMEOUT,
    startTimeout,
    onAsk,
    onOpening,
    signal,
    controller,
    now,
  })
  options.monitor.connected(() => peer.traffic())
  let run: PlayedRun
  try {
    run = await playClient(tape, part, {
      ...options,
      ...(secrets && { secrets }),
      peer,
      identity,
      requestFaults: faults,
      now,
    })
  } finally {
    await peer.close()
  }
  const steps = options.log.steps()
  return createReport(run.totals, steps, {
    tape: tape.path,
    tapeId: tape.header.id,
    target: target.name,
    duration: now(),
    notes: [
      ...secretNotes(steps, secrets),
      ...tapeNotes(tape),
      ...peer.notes,
      ...identity.unreported(),
      ...unusedRuleNotes(options, run.totals),
    ],
    ...carriedBindings(run, steps),
  })
}

interface PlayOptions extends RunOptions {
  readonly peer: Peer
  readonly identity: IdentityJudge
  readonly requestFaults: RequestFaults | undefined
  readonly now: () => number
}

interface PlayedRun {
  readonly plan: ReplayPlan
  readonly values: CarriedValues
  readonly bindings: FoundBindings | false
  readonly totals: RunTotals
}

/** Plans the messages of the recorded client, sends them, judges the answers and logs the steps. */
async function playClient(tape: ReplayedTape, part: ServerPart, options: PlayOptions): Promise<PlayedRun> {
  const { peer, identity, now, controller, monitor, log, correlate, timing = { kind: 'fast' } } = options
  // The server starts while the tape is searched for bindings.
  const early = new EarlyRequests({ timeout: options.timeout, keepsIds: options.transformIds === false })
  const [tools, found] = await Promise.all([
    peer.tools(earlyToolList(part, options), early),
    correlate ?? bindingsOfPart(part, tape),
  ])
  const plan = planMessages(part.turns, options, tools)
  if (plan.hasWrites) options.onWrites?.()
  peer.notes.push(...unmatchedNames(part, options, tools))
  for (const name of toolsAtStart(part).keys()) if (!tools.has(name)) peer.notes.push(lostToolNote(name))
  const { bindings, notes } = dropLeftOutProducers(found, plan)
  peer.notes.push(...notes)
  const values = createCarriedValues(plan, bindings)
  peer.use(values)
  log.setPlan(plan)
  const { header } = tape
  const started = Date.parse(header.started)
  const context = createSendContext(options, { part, plan, values, early, started })
  const { secrets } = options
  const judges = createJudges({ options, part, plan, peer, identity, tools, values, secrets, header, now })
  const unsolicited = new UnsolicitedMessages({ options, plan, peer, judges })
  const totals = new RunTotals()
  const report = (step: ReplayStep, sent?: SentMessage): void => {
    monitor.stepEnded(step)
    totals.add(step)
    log.add(step, sent)
  }
  const { allow, allowWrites } = options
  const permission = { ...(allow && { allow }), ...(allowWrites !== undefined && { allowWrites }) }
  const open = new Set<number>()
  controller.attach(
    new LiveRun({ plan, log, context, judges, unsolicited, totals, tools, permission, open }),
    timing,
  )
  const judge = (sent: SentMessage): ReplayStep => judgeMessage(sent, judges)
  await sendInOrder(scheduleMessages(plan, options.ordering, values), {
    maxConcurrent: options.maxConcurrent ?? Infinity,
    controller,
    now,
    waitForReader: () => log.waitForReader(),
    waitForServer: async (planned) => {
      await context.cancellations.waitForProgress(planned, SERVER_GRACE)
      return unsolicited.waitBefore(planned)
    },
    send: async (planned, { earlier, edit, isAwaited }) => {
      monitor.stepStarted(planned.index)
      open.add(planned.index)
      const { sent, step } = await sendAndJudge(planned, context, { judge, edit, isAwaited })
      open.delete(planned.index)
      const whole = earlier.length === 0 ? step : { ...step, findings: [...earlier, ...step.findings] }
      if (!unsolicited.defer(whole, sent)) report(whole, sent)
      controller.stepEnded(whole, planned)
      if (hasFailed(whole)) applyErrorPolicy(options)
    },
    skip: (planned, why) => {
      const step = judge(unsent(planned, 'skipped', why))
      report(step)
      controller.stepEnded(step, planned)
    },
    release: () => peer.release(),
  })
  for (const { step, sent } of await unsolicited.finish()) report(step, sent)
  return { plan, values, bindings, totals }
}

/**
 * The recorded requests for tools that can be sent before everything else, because the run sends them anyway and nothing that the
 * client does before them changes the tools. A run that may stop sends nothing unasked, and what a rule or fault changes is sent in its turn.
 */
function earlyToolList(part: ServerPart, options: PlayOptions): readonly Turn[] {
  const { timing, rules = [], requestFaults: faults, controller } = options
  if (timing?.kind === 'stepped' || controller.isInTheWay) return []
  if (faults !== undefined || rules.some(mayChangeToolList)) return []
  const pages = listBeforeCalls(part)
  return pages.every((turn) => isSelected(turn, options)) ? pages : []
}

function mayChangeToolList({ when }: TransformRule): boolean {
  return when.kind === 'method' ? when.equals === 'tools/list' : when.kind !== 'tool'
}

interface Sources extends Pick<PlayedRun, 'plan' | 'values'> {
  readonly early: EarlyRequests
  readonly part: ServerPart
  /** When the recording started, in milliseconds since 1970. */
  readonly started: number
}

function createSendContext(
  options: PlayOptions,
  { part, plan, values, early, started }: Sources,
): SendContext {
  const { peer, controller, timeout, now } = options
  return {
    peer,
    values,
    rounds: plan.hasRounds
      ? new InputRounds(part.turns, {
          ask: (request) => peer.answer(request),
          onNote: (note) => peer.notes.push(note),
        })
      : undefined,
    cancellations: new Cancellations(plan.cancelled),
    early,
    batches: new Batches({ plan, revisions: peer.revisions, maxSize: maxBatchSize(options) }),
    rules: options.rules ?? [],
    faults: options.requestFaults,
    timeShift: options.updateTimestamps === true ? (at) => Date.now() - (started + at) : undefined,
    timeout,
    keepsIds: options.transformIds === false,
    maxRetries: options.maxRetries ?? 3,
    retryDelay: options.retryDelay ?? DEFAULT_RETRY_DELAY,
    retriesLost: options.onError === 'retry',
    controller,
    now,
  }
}

const DEFAULT_RETRY_DELAY = 500

/** The messages of a batch wait for each other, which only works if they are due together and may be open together. */
function maxBatchSize({ ordering, timing, maxConcurrent = Infinity }: PlayOptions): number {
  const isInOrder = ordering === undefined || ordering.kind === 'correlated'
  const kind = timing?.kind ?? 'fast'
  const areDueTogether = kind === 'fast' || kind === 'original' || kind === 'scaled'
  return isInOrder && areDueTogether ? maxConcurrent : 0
}

function applyErrorPolicy({ onError, controller }: RunOptions): void {
  if (onError === 'stop') controller.stop()
  if (onError === 'pause') controller.pause()
}

/** Names of options that match nothing are most often misspelled. */
function unmatchedNames(part: ServerPart, options: PlayOptions, tools: ToolDescriptions): readonly string[] {
  const known = [...new Set([...tools.keys(), ...toolsOnTape(part).keys()])]
  const unlisted = known.length === 0 ? [] : (options.allow ?? []).filter((name) => !known.includes(name))
  // A tool that the server does not list can still be called, to see the error.
  const called = unlisted.length === 0 ? new Set() : calledTools(part)
  const unknown = unlisted.filter((name) => !called.has(name))
  return [
    ...unknown.map((name) =>
      name.includes('*')
        ? `--allow ${name} matches no tool: it takes names; --allow-writes allows all tools`
        : `--allow ${name} matches no tool${suggestName(name, known)}`,
    ),
    ...unmatchedPatterns(part.turns, options).map(
      ([option, pattern]) =>
        `${pattern} of --${option} matches no message of the tape${suggestName(pattern, messageNames(part))}`,
    ),
  ]
}

function calledTools({ turns }: ServerPart): ReadonlySet<unknown> {
  const names = Array.from({ length: turns.size }, (_, place) => {
    const { method, name } = turns.summary(place)
    return method === 'tools/call' ? name : undefined
  })
  return new Set(names)
}

/** The names that `--include` and `--exclude` can have, such as `tools/call` and `tools/call:search`. */
function messageNames({ turns }: ServerPart): readonly string[] {
  const names = new Set<string>()
  for (let place = 0; place < turns.size; place++) {
    const { method, name } = turns.summary(place)
    names.add(method)
    if (name !== undefined) names.add(`${method}:${name}`)
  }
  return [...names]
}

function secretNotes(steps: StepList, secrets: LiveSecrets | undefined): readonly string[] {
  const failed = failedSteps({ steps })
  const note = failed.length === 0 ? undefined : secrets?.note(failed.flatMap(({ sent }) => sent ?? []))
  return note === undefined ? [] : [note]
}

/** A rule that changed nothing is most often misspelled. In a run that was stopped, its message may not have been sent. */
function unusedRuleNotes({ rules = [], controller }: RunOptions, totals: RunTotals): readonly string[] {
  if (controller.status === 'stopped') return []
  const unused = rules.filter(({ name }) => !totals.rules.has(name))
  return unused.map(({ name }) => `the rule ${name} applied to no message that was sent`)
}

function carriedBindings(
  { plan, values, bindings: found }: PlayedRun,
  steps: StepList,
): Pick<ReplayReport, 'bindings' | 'guesses'> {
  if (found === false || found.bindings.length + found.guesses.length === 0)
    return { bindings: [], guesses: [] }
  const consumers = [...found.bindings, ...found.guesses].flatMap((binding) => binding.consumers)
  const frames = new Set(consumers.map(({ frame }) => frame))
  const hasPassed = new Map<number, boolean>()
  for (const step of steps.outlines()) {
    const frame = plan.frameOf(step.index)
    if (frames.has(frame)) hasPassed.set(frame, step.state === 'done' && !hasFailed(step))
  }
  const carried = (binding: Binding): CarriedBinding =>
    carriedBinding(binding, values.liveValueOf(binding), (frame) => hasPassed.get(frame))
  return { bindings: found.bindings.map(carried), guesses: found.guesses.map(carried) }
}
