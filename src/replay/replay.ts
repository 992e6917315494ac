import type { Binding, FoundBindings } from '../bindings/binding.ts'
import { hasFailed, type ReplayStep, type SentRequest, unsentStep } from './steps/step.ts'
import type { StepList } from './steps/step-list.ts'
import { carriedBinding, type CarriedBinding } from './values/carried-values.ts'
import { ReplayController, RunMonitor, type RunState } from './controller.ts'
import { sendInOrder } from './send/send-in-order.ts'
import { createReport, failedSteps, type ReplayReport } from './report.ts'
import { selectServerPart, type ReplayedTape } from './plan/server-part.ts'
import { liveSecrets, type LiveSecrets, withLiveSecrets } from './session/live-secrets.ts'
import type { ReplayOptions, ReplayTarget } from './options.ts'
import { prepareRun, type PreparedRun } from './prepare.ts'
import { StepLog } from './steps/step-log.ts'
import { StopQueue, type Stop } from './stepping.ts'
import { RunTotals } from './steps/run-totals.ts'
import { tapeNotes } from './notes.ts'
import { bindingsOfPart } from './values/tape-bindings.ts'

/** A run: its steps as they are known, and the report at the end. */
export interface Replay extends AsyncIterable<ReplayStep> {
  readonly controller: ReplayController
  /** Of a run with the timing `stepped`: each message before it goes out. It waits until one of them is told what to do. */
  readonly stops: AsyncIterable<Stop>
  /** Where it stands at this moment. */
  readonly state: RunState
  /** Resolves when the run is over, whether or not anybody looked at the steps. */
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
  const controller = options.controller ?? new ReplayController()
  const steps = new StepLog({
    bufferSize: options.bufferSize,
    keepTexts: options.keepTexts ?? DEFAULT_KEEP_TEXTS,
  })
  const watch = new RunMonitor(controller)
  const stops = new StopQueue(controller)
  controller.start()
  stopWith(controller, options.signal)
  const report = runReplay(tape, { ...options, controller, watch, stops }, steps).finally(() => {
    watch.stop()
    stops.close()
  })
  report.catch((error: unknown) => steps.fail(error))
  return {
    controller,
    report,
    stops,
    get state() {
      return watch.state
    },
    [Symbol.asyncIterator]: () => steps[Symbol.asyncIterator](),
  }
}

const DEFAULT_KEEP_TEXTS = 50_000

function stopWith(controller: ReplayController, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) controller.stop()
  signal?.addEventListener('abort', () => controller.stop(), { once: true })
}

async function runReplay(
  tape: ReplayedTape,
  options: ReplayOptions & { controller: ReplayController; watch: RunMonitor; stops: StopQueue },
  steps: StepLog,
): Promise<ReplayReport> {
  const started = performance.now()
  const now = (): number => performance.now() - started
  const part = await selectServerPart(tape, options.server)
  const bindings = async (): Promise<FoundBindings | false> => options.correlate ?? bindingsOfPart(part, tape)
  const secrets = options.secrets ?? liveSecrets(tape.header)
  const target = secrets === undefined ? options.target : withSecretLink(options.target, secrets)
  const prepared = await prepareRun(part, { ...options, target, bindings, now, started: tape.header.started })
  steps.setPlan(prepared.plan)
  const tally = new RunTotals()
  try {
    const tell = (step: ReplayStep, sent?: SentRequest): void => {
      options.watch.stepEnded(step)
      tally.add(step)
      steps.add(step, sent)
    }
    await sendInOrder({
      ...prepared,
      ...sendRunOptions(options),
      stop: stopDecider(options, prepared),
      now,
      waitForReader: () => steps.waitForReader(),
      onResult: (step, sent) => {
        if (prepared.trailingChecks?.defer(step) !== true) tell(step, sent)
      },
    })
    for (const step of (await prepared.trailingChecks?.finish()) ?? []) tell(step)
  } finally {
    await prepared.close()
    steps.close()
  }
  const facts = { ...runFacts(tape, options, prepared), duration: now() }
  const done = steps.steps()
  const failed = failedSteps({ steps: done })
  const note = failed.length === 0 ? undefined : secrets?.note(failed.flatMap(({ sent }) => sent ?? []))
  const notes = [...(note === undefined ? [] : [note]), ...facts.notes, ...unusedRuleNotes(options, tally)]
  return createReport(tally, done, { ...facts, notes, ...carriedBindings(prepared, done) })
}

/** A rule that is for nothing is most often one that is misspelt; of a run that was stopped nobody can say. */
function unusedRuleNotes(
  { rules = [], controller }: Pick<ReplayOptions, 'rules'> & { controller: ReplayController },
  tally: RunTotals,
): readonly string[] {
  if (controller.status === 'stopped') return []
  const idle = rules.filter(({ name }) => !tally.rules.has(name))
  return idle.map(({ name }) => `the rule ${name} was for no message that was sent`)
}

function stopDecider(
  { timing, stops }: ReplayOptions & { stops: StopQueue },
  { preview }: PreparedRun,
): Parameters<typeof sendInOrder>[0]['stop'] {
  return timing?.kind === 'stepped' ? (planned) => stops.waitAt(planned, preview(planned)) : undefined
}

function withSecretLink(target: ReplayTarget, secrets: LiveSecrets): ReplayTarget {
  return { ...target, open: withLiveSecrets(target.open, secrets) }
}

function carriedBindings(
  { correlate, liveValueOf, plan }: PreparedRun,
  steps: StepList,
): Pick<ReplayReport, 'bindings' | 'guesses'> {
  if (correlate === false || correlate.bindings.length + correlate.guesses.length === 0)
    return { bindings: [], guesses: [] }
  const all = [...correlate.bindings, ...correlate.guesses]
  const frames = new Set(all.flatMap(({ consumers }) => consumers.map(({ frame }) => frame)))
  const good = new Map<number, boolean>()
  for (const step of steps.outlines()) {
    const frame = plan.frameOf(step.index)
    if (frames.has(frame)) good.set(frame, step.state === 'done' && !hasFailed(step))
  }
  const carried = (binding: Binding): CarriedBinding =>
    carriedBinding(binding, liveValueOf(binding), (frame) => good.get(frame))
  return { bindings: correlate.bindings.map(carried), guesses: correlate.guesses.map(carried) }
}

function sendRunOptions({
  timing = { kind: 'fast' },
  maxConcurrent = Infinity,
  onError = 'continue',
  controller,
}: ReplayOptions & { controller: ReplayController }): Pick<
  Parameters<typeof sendInOrder>[0],
  'timing' | 'maxConcurrent' | 'onError' | 'controller' | 'skip'
> {
  return {
    timing,
    maxConcurrent,
    onError: onError === 'retry' ? 'continue' : onError,
    controller,
    skip: (planned, why) => unsentStep(planned, 'skipped', why),
  }
}

function runFacts(
  tape: ReplayedTape,
  { target }: ReplayOptions,
  { notes }: PreparedRun,
): { tape: string; tapeId: string; target: string; notes: readonly string[] } {
  const { path, header } = tape
  return { tape: path, tapeId: header.id, target: target.name, notes: [...tapeNotes(tape), ...notes] }
}
