import type { Binding, Correlation } from '../correlate/binding.ts'
import type { Outcome } from './as-recorded.ts'
import { carriedBinding, type CarriedBinding } from './carried-binding.ts'
import { Controller } from './controller.ts'
import { execute } from './execute.ts'
import { hasFailed } from './failed.ts'
import { keepSteps } from './kept-steps.ts'
import { onePart } from './one-server.ts'
import { liveSecrets, type LiveSecrets } from './live-secrets.ts'
import type { ReplayOptions, Target } from './options.ts'
import { prepare, type Prepared } from './prepare.ts'
import type { ReplayedTape } from './replayed-tape.ts'
import { reportFrom, type ReplayReport } from './report.ts'
import { RunWatch, type RunState } from './run-state.ts'
import { secretLink } from './secret-link.ts'
import type { StepResult } from './step-result.ts'
import { notSent } from './step-results.ts'
import { Steps } from './steps.ts'
import { Stops, type Stop } from './stops.ts'
import { Tally } from './tally.ts'
import { tapeNotes } from './tape-notes.ts'
import { partBindings } from './tape-bindings.ts'

/** A run: its steps as they are known, and the report at the end. */
export interface Replay extends AsyncIterable<StepResult> {
  readonly controller: Controller
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
  const controller = options.controller ?? new Controller()
  const steps = new Steps({ most: options.bufferSize, keepTexts: options.keepTexts ?? KEPT_TEXTS })
  const watch = new RunWatch(controller)
  const stops = new Stops(controller)
  controller.start()
  stopWith(controller, options.signal)
  const report = run(tape, { ...options, controller, watch, stops }, steps).finally(() => {
    watch.over()
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

const KEPT_TEXTS = 50_000

function stopWith(controller: Controller, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) controller.stop()
  signal?.addEventListener('abort', () => controller.stop(), { once: true })
}

async function run(
  tape: ReplayedTape,
  options: ReplayOptions & { controller: Controller; watch: RunWatch; stops: Stops },
  steps: Steps,
): Promise<ReplayReport> {
  const started = performance.now()
  const now = (): number => performance.now() - started
  const part = await onePart(tape, options.server)
  const bindings = async (): Promise<Correlation | false> => options.correlate ?? partBindings(part, tape)
  const secrets = options.secrets ?? liveSecrets(tape.header)
  const target = secrets === undefined ? options.target : behind(options.target, secrets)
  const prepared = await prepare(part, { ...options, target, bindings, now, started: tape.header.started })
  steps.of(prepared.plan)
  const tally = new Tally()
  try {
    const tell = (outcome: Outcome): void => {
      options.watch.ended(outcome)
      tally.add(outcome)
      steps.push(outcome)
    }
    await execute({
      ...prepared,
      ...executionOf(options),
      stop: stoppedBy(options, prepared),
      now,
      room: () => steps.room(),
      onResult: (outcome) => {
        if (prepared.endings?.holds(outcome) !== true) tell(outcome)
      },
    })
    for (const outcome of (await prepared.endings?.settled()) ?? []) tell(outcome)
  } finally {
    await prepared.close()
    steps.close()
  }
  const facts = { ...factsOf(tape, options, prepared), duration: now() }
  const failed = steps.rows.others.filter(hasFailed)
  const note = failed.length === 0 ? undefined : secrets?.note(failed.flatMap(({ sent }) => sent ?? []))
  const notes = [...(note === undefined ? [] : [note]), ...facts.notes, ...idleRules(options, tally)]
  const carried = carriedIn(prepared, steps)
  return keepSteps(
    reportFrom(tally, () => steps.all(), { ...facts, notes, ...carried }),
    steps.kept(),
  )
}

/** A rule that is for nothing is most often one that is misspelt; of a run that was stopped nobody can say. */
function idleRules(
  { rules = [], controller }: Pick<ReplayOptions, 'rules'> & { controller: Controller },
  tally: Tally,
): readonly string[] {
  if (controller.status === 'stopped') return []
  const idle = rules.filter(({ name }) => !tally.rules.has(name))
  return idle.map(({ name }) => `the rule ${name} was for no message that was sent`)
}

function stoppedBy(
  { timing, stops }: ReplayOptions & { stops: Stops },
  { preview }: Prepared,
): Parameters<typeof execute>[0]['stop'] {
  return timing?.kind === 'stepped' ? (planned) => stops.at(planned, preview(planned)) : undefined
}

function behind(target: Target, secrets: LiveSecrets): Target {
  return { ...target, open: secretLink(target.open, secrets) }
}

function carriedIn(
  { correlate, liveOf }: Prepared,
  steps: Steps,
): Pick<ReplayReport, 'bindings' | 'guesses'> {
  if (correlate === false || correlate.bindings.length + correlate.guesses.length === 0)
    return { bindings: [], guesses: [] }
  const all = [...correlate.bindings, ...correlate.guesses]
  const good = steps.goodAt(new Set(all.flatMap(({ consumers }) => consumers.map(({ frame }) => frame))))
  const carried = (binding: Binding): CarriedBinding =>
    carriedBinding(binding, liveOf(binding), (frame) => good.get(frame))
  return { bindings: correlate.bindings.map(carried), guesses: correlate.guesses.map(carried) }
}

function executionOf({
  timing = { kind: 'fast' },
  maxConcurrent = Infinity,
  onError = 'continue',
  controller,
}: ReplayOptions & { controller: Controller }): Pick<
  Parameters<typeof execute>[0],
  'timing' | 'maxConcurrent' | 'onError' | 'controller' | 'skip'
> {
  return {
    timing,
    maxConcurrent,
    onError: onError === 'retry' ? 'continue' : onError,
    controller,
    skip: (planned, why) => notSent(planned, 'skipped', why),
  }
}

function factsOf(
  tape: ReplayedTape,
  { target }: ReplayOptions,
  { notes }: Prepared,
): { tape: string; tapeId: string; target: string; notes: readonly string[] } {
  const { path, header } = tape
  return { tape: path, tapeId: header.id, target: target.name, notes: [...tapeNotes(tape), ...notes] }
}
