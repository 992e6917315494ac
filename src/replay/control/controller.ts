import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { ReelayError } from '../../errors.ts'
import { isHandshakeLeftOut, type PlannedMessage } from '../plan/plan.ts'
import { parseSpeed, type Timing } from '../plan/timing.ts'
import { hasFailed, type ReplayStep, RUN_STOPPED } from '../steps/step.ts'
import { Breakpoints, NO_HITS } from './breakpoints.ts'
import {
  type Breakpoint,
  type BreakpointSpec,
  type ControllerCommand,
  type ControllerEvent,
  type ExtraMessageEvent,
  type MessageEdit,
  type MessageView,
  type RunStatus,
  type SeekTarget,
  type StatusEvent,
  type StepUnit,
  type StoppedEvent,
  type StopReason,
  readCommand,
} from './commands.ts'
import { applyEdit, type PendingEdit, SKIPPED } from './message-edit.ts'
import { RunHistory, type Position } from './history.ts'
import { type ControlledRun, type ShownStep, shownStep } from './controlled-run.ts'

/** The decision about a message that is about to be sent. */
export type StopDecision =
  | { readonly kind: 'go'; readonly edit?: PendingEdit }
  | { readonly kind: 'skip'; readonly why: string }

/** What a run does next: until which message it goes on by itself. */
type Goal =
  | { readonly kind: 'free' }
  | { readonly kind: 'step'; readonly unit: StepUnit; readonly reason: StopReason }
  | { readonly kind: 'seek'; readonly index: number }

const FREE: Goal = { kind: 'free' }
const FAST: Timing = { kind: 'fast' }

/** A stop of a run. */
interface StoppedAt {
  readonly position: Position
  readonly reason: StopReason
  readonly breakpoints: readonly number[]
}

/**
 * Controls a run: pauses it, steps through it in both directions, stops at breakpoints, and changes, repeats and adds messages.
 * Commands can be given at any time. Requests that were already sent still get their answers.
 */
export class ReplayController {
  #status: RunStatus = 'idle'
  #wake: (() => void)[] = []
  #stopping = new AbortController()
  readonly #breakpoints = new Breakpoints()
  readonly #listeners = new Set<(event: ControllerEvent) => void>()
  readonly #clock = new RunClock()
  #run: ControlledRun | undefined
  #history: RunHistory | undefined
  /** The pace that the user has set, and the one in use. */
  #speed: Timing | undefined
  #pace: Timing = FAST
  #isEnded = false
  #goal: Goal = FREE
  /** True if the run was paused, and has not yet reached the next message. */
  #isPauseOpen = false
  /** The message that waits to be sent. */
  #waiting: PlannedMessage | undefined
  #edit: PendingEdit | undefined
  /** Edits for the next message, if none waits yet. */
  readonly #nextEdits: MessageEdit[] = []
  /** The changes of messages that were already sent, by index: those that they were sent with, and those for `resend`. */
  readonly #sentEdits = new Map<number, PendingEdit>()
  /** Where the run has stopped. */
  #stop: StoppedAt | undefined
  /** Stops of other messages that ended while the run was stopped. */
  readonly #laterStops: StoppedAt[] = []
  /** An earlier message that is shown; `undefined` if the one at which the run has stopped is shown. */
  #view: Position | undefined
  /** Messages that are done, those of them that belong to the handshake, and those that differ from the tape. */
  #done = 0
  #handshakes = 0
  #differences = 0
  #resent = 0
  #injected = 0
  #statusAt = 0
  /** What became of messages that were sent again, by index. */
  readonly #sentAgain = new Map<number, ShownStep>()

  constructor() {
    setMaxListeners(0, this.stopped) // many waits listen at once, which is not a leak
  }

  get status(): RunStatus {
    return this.#status
  }

  /** Called when a run begins. One controller can be used for several runs, one after the other. */
  start(): void {
    if (this.#status === 'idle' || this.#status === 'done') this.#setStatus('running')
  }

  /** Pauses before the next message. */
  pause(): void {
    if (this.#status !== 'running' && this.#status !== 'idle') return
    this.#isPauseOpen = true
    this.#setStatus('paused')
  }

  /** Continues to the next breakpoint. If an earlier message is shown, breakpoints of the past come first. */
  resume(): void {
    if (this.#status !== 'paused') return
    if (this.#view === undefined) return this.#go(FREE)
    const found = this.#history?.findForward(this.#view, this.#stop?.position, this.#breakpoints)
    if (found === undefined) return this.#go(FREE)
    this.#show(found.position, 'breakpoint', found.breakpoints)
  }

  /** Sends nothing more. Messages that were not sent are reported as skipped. */
  stop(): void {
    if (this.#status !== 'done') this.#setStatus('stopped')
  }

  /** Goes to the next message, or with the unit `message`, first to the response of this one. */
  step(unit: StepUnit = 'exchange'): void {
    this.#requirePaused('step')
    const next = this.#view && this.#history?.next(this.#view, unit, this.#stop?.position)
    if (next === undefined) this.#go({ kind: 'step', unit, reason: 'step' })
    else this.#show(next, 'step')
  }

  /** Makes a run that begins stop at its first message. */
  stopAtFirst(): void {
    this.#goal = { kind: 'step', unit: 'exchange', reason: 'entry' }
  }

  /** Shows the previous message, with what became of it. Nothing is sent. */
  stepBack(unit: StepUnit = 'exchange'): void {
    this.#requirePaused('step back')
    const before = this.#history?.previous(this.#shown(), unit)
    if (before === undefined) throw notPossible('there is no message before this one', 'step goes forward')
    this.#show(before, 'back')
  }

  /** Goes back to the last message at which a breakpoint holds, or to the first message. */
  runBack(): void {
    this.#requirePaused('go back')
    const found = this.#history?.findBackward(this.#shown(), this.#breakpoints)
    if (found === undefined) throw notPossible('there is no message before this one', 'step goes forward')
    this.#show(found.position, found.breakpoints.length > 0 ? 'breakpoint' : 'back', found.breakpoints)
  }

  /** Goes to a message: back without sending anything, or forward by sending the messages in between. */
  seek(target: SeekTarget): void {
    const { history } = this.#active()
    const index = history.indexOf(target)
    const live = this.#stop?.position
    if (this.#status === 'running') {
      if (history.isDone(index))
        throw notPossible('the message was already sent', 'pause first, to look at it')
      this.#goal = { kind: 'seek', index }
      return
    }
    this.#requirePaused('seek')
    if (live !== undefined && index === live.index) this.#show(live, 'seek')
    else if (history.isDone(index)) this.#show({ index, phase: 'request' }, 'seek')
    else this.#go({ kind: 'seek', index })
  }

  /** Changes the pace of the run: `fast`, `original`, `x2`, `100ms` or `50rps`. */
  setSpeed(speed: string): void {
    const timing = parseSpeed(speed)
    if (timing === undefined || timing.kind === 'stepped')
      throw notPossible(
        `invalid speed ${JSON.stringify(speed)}`,
        'use fast, original, a factor such as x2, a delay such as 100ms, or a rate such as 50rps',
      )
    this.#speed = timing
    this.#pace = timing
  }

  /** The pace. A new object means that times count from now on: after a pause, a message is not late. */
  get timing(): Timing {
    return this.#pace
  }

  addBreakpoint(spec: BreakpointSpec): Breakpoint {
    return this.#breakpoints.add(spec)
  }

  /** Returns false if there is no breakpoint with this id. */
  removeBreakpoint(id: number): boolean {
    return this.#breakpoints.remove(id)
  }

  get breakpoints(): readonly Breakpoint[] {
    return this.#breakpoints.list()
  }

  /** Changes the message that waits, or if none does, the next one. Returns the message as it would be sent. */
  modifyNext(action: MessageEdit): MessageView | undefined {
    const { run } = this.#active()
    if (this.#waiting === undefined || this.#status !== 'paused') {
      this.#nextEdits.push(action)
      return undefined
    }
    this.#edit = applyEdit(this.#edit, action, this.#waiting, run)
    return this.#viewOf(this.#waiting.index)
  }

  /**
   * Changes the message that is shown, or the one with this index: one that waits is sent with the change, and one that was already
   * sent is sent again with it by `resend`. While the run goes on, the next message is changed. Returns the changed message;
   * `undefined` if it is not known yet.
   */
  modify(action: MessageEdit, index?: number): MessageView | undefined {
    const { run } = this.#active()
    if (index === undefined && this.#status === 'running') return this.modifyNext(action)
    const at = index ?? this.#shownIndex()
    if (at === undefined) throw notPossible('the run is at the end of the tape', 'go back to a message')
    const planned = run.messageAt(this.#existing(at))
    if (run.stepAt(at) === undefined) {
      if (at === this.#waiting?.index && this.#status === 'paused') return this.modifyNext(action)
      if (run.isOpen(at))
        throw notPossible('the message has no response yet', 'wait for it, then send it again')
      throw notPossible('the message is not the next one', 'step to it, and change it there')
    }
    if (action.kind === 'skip' || action.kind === 'error' || action.kind === 'delay')
      throw notPossible('the message was already sent', 'resend sends it again')
    const edit = applyEdit(this.#sentEdits.get(at), action, planned, run)
    this.#keepEdit(at, edit)
    return { ...this.#viewOf(at), request: edit?.text ?? run.textOf(planned), isEdited: edit !== undefined }
  }

  /** Sends a message that is not on the tape, and resolves with the response. Calls that may write need permission, as on the tape. */
  async inject(message: unknown): Promise<ExtraMessageEvent> {
    const { run } = this.#active()
    this.#requireOpen()
    const text = typeof message === 'string' ? message : JSON.stringify(message)
    const near = this.#waiting ?? run.messageAt(Math.min(this.#stop?.position.index ?? 0, run.total - 1))
    const onSend = (): void => this.#emit({ type: 'action', action: 'injected', message: undefined })
    const sent = await run.inject(text, near, onSend)
    this.#injected++
    const event: ExtraMessageEvent = { type: 'injected', message: undefined, ...sent }
    this.#emit(event)
    return event
  }

  /** The text of a message that was sent and then changed; `undefined` if it was not changed. */
  editedText(index: number): string | undefined {
    return this.#sentEdits.get(index)?.text
  }

  /**
   * Sends a message again, by default the one that is shown, with the changes that it was sent with and those of `modify`. The live
   * server keeps the state that all messages so far have left. Later messages use the values of the new response.
   */
  async resend(index?: number, action?: MessageEdit): Promise<ExtraMessageEvent> {
    const { run } = this.#active()
    this.#requireOpen()
    const planned = run.messageAt(this.#existing(index ?? this.#lastDone()))
    if (run.isOpen(planned.index)) throw notPossible('the message has no response yet', 'wait for it')
    if (run.stepAt(planned.index) === undefined)
      throw notPossible('the message was not sent yet', 'step sends it')
    const known = this.#sentEdits.get(planned.index)
    const edit = action === undefined ? known : applyEdit(known, action, planned, run)
    const outline = run.outlineAt(planned.index)
    const onSend = (): void => this.#emit({ type: 'action', action: 'resent', message: outline })
    const step = await run.resend(planned, edit, onSend)
    this.#keepEdit(planned.index, edit)
    this.#resent++
    const { sent = '', answer: response, why, duration } = step
    this.#sentAgain.set(planned.index, { ...shownStep(step), isEdited: edit !== undefined })
    const message = this.#viewOf(planned.index)
    const event: ExtraMessageEvent = { type: 'resent', sent, response, why, duration, message }
    this.#emit(event)
    return event
  }

  /** Returns a message as a debugger shows it, by default the one that is shown now; `undefined` at the end of the tape. */
  show(index?: number): MessageView | undefined {
    const at = index ?? this.#shownIndex()
    return at === undefined ? undefined : this.#viewOf(this.#existing(at))
  }

  /** Returns the stop that is shown; `undefined` if the run is not stopped at a message. */
  get currentStop(): StoppedEvent | undefined {
    if (this.#status !== 'paused') return undefined
    const stop = this.#view === undefined ? this.#stop : { position: this.#view, ...AT_PAST }
    return stop && this.#stoppedEvent(stop)
  }

  /** The number of messages of the client on the tape, with the handshake; indexes are less than this. */
  get size(): number {
    return this.#run?.total ?? 0
  }

  /** Returns the progress at this moment. */
  state(): StatusEvent {
    const { progress, counts, metrics, open } = this.#run?.facts(this.#done) ?? NO_FACTS
    const { handshakes, at, ended } = progress
    const total = this.size - handshakes
    const [elapsed, done] = [this.#clock.elapsed, this.#done - this.#handshakes]
    const shown = this.#shownIndex() ?? this.#done
    const isKnown = this.#run !== undefined && shown < this.size
    return {
      type: 'status',
      status: this.#status,
      progress: {
        done,
        total,
        percent: total === 0 ? 0 : Math.round((done / total) * 1000) / 10,
        elapsed: Math.round(elapsed),
        remaining: remainingTime({ done, total, elapsed, at, ended }, this.timing),
      },
      current: isKnown ? this.#run?.outlineAt(shown) : undefined,
      open,
      counts: {
        ...counts,
        skipped: counts.skipped - this.#handshakes,
        differences: this.#differences,
        resent: this.#resent,
        injected: this.#injected,
      },
      metrics: { ...metrics, throughput: elapsed === 0 ? 0 : (done / elapsed) * 1000 },
    }
  }

  /** Executes a command that came as JSON, and resolves with a reply that can be sent as JSON. */
  async execute(command: unknown): Promise<unknown> {
    const given = readCommand(command)
    return (await this.#execute(given)) ?? {}
  }

  /** Calls a function with every event until the returned function is called. */
  subscribe(listener: (event: ControllerEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Resolves when the run has stopped at a message, or is over. */
  async waitForStop(): Promise<void> {
    while (this.#status === 'running' || (this.#status === 'paused' && this.#stop === undefined))
      await this.#nextChange()
  }

  /** Aborted when the run is stopped. */
  get stopped(): AbortSignal {
    return this.#stopping.signal
  }

  /** Waits for a number of milliseconds. Resolves to false as soon as the run is stopped. */
  wait(milliseconds: number): Promise<boolean> {
    return sleep(milliseconds, true, { signal: this.stopped }).catch(() => false)
  }

  // What a run calls.

  /** Called by a run before it sends its first message. */
  attach(run: ControlledRun, timing: Timing): void {
    this.#run = run
    this.#history = new RunHistory(run)
    this.#pace = this.#speed ?? timing
    this.#isEnded = false
    this.#waiting = undefined
    this.#done = 0
    this.#handshakes = 0
    this.#differences = 0
    this.#sentAgain.clear()
    this.#sentEdits.clear()
    if (timing.kind === 'stepped') this.stopAtFirst()
    this.#clock.start()
    this.#emitStatus()
  }

  /** True while the run goes to the next message. */
  get isStepping(): boolean {
    return this.#goal.kind === 'step'
  }

  /** Returns true if the run may not simply send a message. It is asked for every message. */
  get isInTheWay(): boolean {
    return (
      this.#status !== 'running' ||
      this.#goal !== FREE ||
      this.#nextEdits.length > 0 ||
      this.#breakpoints.isArmed('request')
    )
  }

  /** Decides about a message, at once if the run need not stop before it. */
  beforeSend(planned: PlannedMessage): StopDecision | Promise<StopDecision> {
    const isFree = this.#status === 'running' && this.#goal === FREE && this.#nextEdits.length === 0
    if (!isFree) return this.#waitBefore(planned)
    const stop = planned.fate.kind === 'skip' ? undefined : this.#stopBefore(planned)
    return stop === undefined ? GO : this.#waitBefore(planned, stop)
  }

  /** Waits at a message until it may be sent. */
  async #waitBefore(planned: PlannedMessage, known?: StoppedAt): Promise<StopDecision> {
    this.#waiting = planned
    while (this.#status === 'paused' && !this.#isPauseOpen) await this.#nextChange() // stopped at an earlier response
    if (this.#isOver) return STOPPED
    if (planned.fate.kind === 'skip') return GO
    this.#applyNextEdits(planned)
    const stop = known ?? this.#stopBefore(planned)
    if (stop !== undefined) {
      this.#stopAt(stop)
      await this.#untilResumed()
    }
    const edit = this.#edit
    this.#waiting = undefined
    this.#edit = undefined
    if (this.#isOver) return STOPPED
    if (edit === undefined) return GO
    if (!edit.isSkipped) this.#keepEdit(planned.index, edit)
    const action = edit.isSkipped ? 'skipped' : 'edited'
    this.#emit({ type: 'action', action, message: this.#run?.outlineAt(planned.index) })
    return edit.isSkipped ? SKIPPED_BY_USER : { kind: 'go', edit }
  }

  /** Called for each message that is done. */
  stepEnded(step: ReplayStep, planned: PlannedMessage): void {
    this.#done++
    if (isHandshakeLeftOut(planned.fate)) this.#handshakes++
    if (hasFailed(step)) this.#differences++
    const isArmed = this.#breakpoints.isArmed('response')
    const isStep = this.#goal.kind === 'step' && this.#goal.unit === 'message'
    if (this.#listeners.size > 0) this.#report(step)
    if ((!isArmed && !isStep) || step.sentAt === undefined || this.#run === undefined || this.#isOver) return
    const hits = isArmed ? this.#breakpoints.check(this.#run.subjectOf(step, planned), 'response') : NO_HITS
    this.#printLogs(hits.logs, step)
    const breakpoints = hits.stops.map(({ id }) => id)
    const position: Position = { index: step.index, phase: 'response' }
    const isDifference = hits.stops.some(({ difference }) => difference === true)
    if (breakpoints.length > 0)
      this.#stopAt({ position, breakpoints, reason: isDifference ? 'difference' : 'breakpoint' })
    else if (isStep && step.recordedId !== undefined) this.#stopAt({ position, breakpoints, reason: 'step' })
  }

  /** Waits at the end of the tape, if somebody steps through the run. */
  async atEnd(): Promise<void> {
    this.#waiting = undefined
    if (this.#stop !== undefined) await this.#untilResumed()
    const isPaused = this.#isPauseOpen && this.#listeners.size > 0
    if (this.#isOver || (this.#goal === FREE && !isPaused)) return
    const index = this.#run?.total ?? 0
    this.#stopAt({ position: { index, phase: 'end' }, reason: 'end', breakpoints: [] })
    await this.#untilResumed()
  }

  /** Called when the run is over. */
  finish(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    if (this.#status !== 'stopped') this.#setStatus('done')
    this.#stop = undefined
    this.#view = undefined
    this.#waiting = undefined
    this.#goal = FREE
    this.#laterStops.length = 0
    this.#emit({ type: 'ended', status: this.#status === 'stopped' ? 'stopped' : 'done' })
  }

  get #isOver(): boolean {
    return this.#status === 'stopped' || this.#status === 'done'
  }

  #execute(command: ControllerCommand): unknown {
    switch (command.type) {
      case 'start':
        return this.#status === 'idle' ? this.start() : this.resume()
      case 'pause':
        return this.pause()
      case 'resume':
        return this.resume()
      case 'stop':
        return this.stop()
      case 'step':
        return this.step(command.unit)
      case 'stepBack':
        return this.stepBack(command.unit)
      case 'reverse':
        return this.runBack()
      case 'seek':
        return this.seek(command)
      case 'speed':
        return this.setSpeed(command.speed)
      case 'addBreakpoint': {
        const { type: _, ...spec } = command
        return this.addBreakpoint(spec)
      }
      case 'removeBreakpoint':
        return { isRemoved: this.removeBreakpoint(command.id) }
      case 'listBreakpoints':
        return { breakpoints: this.breakpoints }
      case 'modifyNext':
        return this.modifyNext(command.action)
      case 'modify':
        return this.modify(command.action, command.index)
      case 'inject':
        return this.inject(command.message)
      case 'resend':
        return this.resend(command.index, command.action)
      case 'show':
        return this.show(command.index)
      case 'status':
        return this.state()
    }
  }

  #active(): { readonly run: ControlledRun; readonly history: RunHistory } {
    if (this.#run === undefined || this.#history === undefined)
      throw notPossible('the run has not begun', 'wait for its first stop')
    return { run: this.#run, history: this.#history }
  }

  #requireOpen(): void {
    if (this.#isOver) throw notPossible('the run is over', 'start another run')
  }

  #requirePaused(what: string): void {
    if (this.#status === 'paused' && this.#stop !== undefined) return
    const hint = this.#isOver ? 'start another run' : 'pause first'
    throw notPossible(
      `only a run that is stopped at a message can ${what}, and this one is ${this.#status}`,
      hint,
    )
  }

  /** The position that is shown. */
  #shown(): Position {
    return this.#view ?? this.#stop?.position ?? { index: 0, phase: 'request' }
  }

  #shownIndex(): number | undefined {
    const position = this.#view ?? this.#stop?.position
    return position?.phase === 'end' ? undefined : (position?.index ?? this.#waiting?.index)
  }

  /** The message that is shown if it is done, or the last one that is done. */
  #lastDone(): number {
    const { history } = this.#active()
    const shown = this.#shown()
    if (shown.phase !== 'end' && history.isDone(shown.index)) return shown.index
    return history.previous(shown, 'exchange')?.index ?? shown.index
  }

  #existing(index: number): number {
    const { run } = this.#active()
    if (Number.isInteger(index) && index >= 0 && index < run.total) return index
    throw notPossible(
      `the tape has no message with the index ${index}`,
      `indexes go from 0 to ${run.total - 1}`,
    )
  }

  /** Shows a message of the past, or the one at which the run has stopped. */
  #show(position: Position, reason: StopReason, breakpoints: readonly number[] = []): void {
    const live = this.#stop?.position
    const isLive = live?.index === position.index && live.phase === position.phase
    this.#view = isLive ? undefined : position
    this.#emit(this.#stoppedEvent({ position, reason, breakpoints }))
    this.#notifyWaiters()
  }

  #go(goal: Goal): void {
    this.#view = undefined
    this.#goal = goal
    this.#isPauseOpen = false
    this.#stop = undefined
    const later = this.#laterStops.shift()
    if (later !== undefined) return this.#stopAt(later)
    this.#pace = { ...this.#pace } // times count from now on
    this.#setStatus('running')
  }

  #stopAt(stop: StoppedAt): void {
    if (this.#stop !== undefined) return void this.#laterStops.push(stop)
    this.#stop = stop
    this.#view = undefined
    this.#goal = FREE
    this.#isPauseOpen = false
    this.#setStatus('paused')
    this.#emit(this.#stoppedEvent(stop))
  }

  #stoppedEvent({ position: { index, phase }, reason, breakpoints }: StoppedAt): StoppedEvent {
    const message = phase === 'end' ? undefined : this.#viewOf(index)
    return { type: 'stopped', reason, breakpoints, phase, message }
  }

  /** A message that was sent again is shown with its last response. */
  #viewOf(index: number): MessageView {
    const { run } = this.#active()
    const edit = this.#waiting?.index === index ? this.#edit : undefined
    return { ...run.viewOf(index, edit), ...this.#sentAgain.get(index) }
  }

  /** Only the text is sent again: a delay or an error was for the first time. */
  #keepEdit(index: number, edit: PendingEdit | undefined): void {
    if (edit?.text === undefined) this.#sentEdits.delete(index)
    else this.#sentEdits.set(index, { text: edit.text, isSkipped: false, delay: 0, error: undefined })
  }

  #applyNextEdits(planned: PlannedMessage): void {
    for (const action of this.#nextEdits.splice(0)) {
      try {
        this.#edit = applyEdit(this.#edit, action, planned, this.#active().run)
      } catch (error) {
        // Nobody waits for the result any more, so the run stops before the message, which is not what the user wanted to send.
        this.#isPauseOpen = true
        const text = error instanceof Error ? error.message : String(error)
        const { index, turn } = planned
        this.#emit({ type: 'output', text, breakpoint: 0, index, frame: turn.trigger?.n ?? 0 })
      }
    }
  }

  #stopBefore(planned: PlannedMessage): StoppedAt | undefined {
    const { index } = planned
    const position: Position = { index, phase: 'request' }
    const isArmed = this.#breakpoints.isArmed('request')
    const { stops, logs } =
      isArmed && this.#run !== undefined
        ? this.#breakpoints.check(this.#run.subjectBefore(planned), 'request')
        : NO_HITS
    this.#printLogs(logs, { index, frame: planned.turn.trigger?.n ?? 0 })
    const breakpoints = stops.map(({ id }) => id)
    if (breakpoints.length > 0) return { position, reason: 'breakpoint', breakpoints }
    const goal = this.#goal
    if (this.#isPauseOpen) return { position, reason: 'pause', breakpoints }
    if (goal.kind === 'step') return { position, reason: goal.reason, breakpoints }
    return goal.kind === 'seek' && index >= goal.index ? { position, reason: 'seek', breakpoints } : undefined
  }

  #printLogs(
    logs: readonly { readonly breakpoint: number; readonly text: string }[],
    { index, frame }: { readonly index: number; readonly frame: number },
  ): void {
    for (const log of logs) this.#emit({ type: 'output', ...log, index, frame })
  }

  #report(step: ReplayStep): void {
    const { index, frame, exchange, method, tool, state, why, duration, findings } = step
    const outline = { index, frame, exchange, method, tool }
    this.#emit({ type: 'done', ...outline, state, why, duration, findings })
    if (performance.now() - this.#statusAt >= STATUS_INTERVAL) this.#emitStatus()
  }

  #emitStatus(): void {
    if (this.#listeners.size === 0) return
    this.#statusAt = performance.now()
    this.#emit(this.state())
  }

  #emit(event: ControllerEvent): void {
    for (const listener of this.#listeners) listener(event)
  }

  /** A run that goes on and is paused in the same moment goes on to the next message. */
  async #untilResumed(): Promise<void> {
    while (this.#status === 'paused' && !this.#isPauseOpen) await this.#nextChange()
  }

  #notifyWaiters(): void {
    for (const wake of this.#wake.splice(0)) wake()
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve))
  }

  #setStatus(status: RunStatus): void {
    this.#status = status
    if (status === 'running') this.#clock.start()
    else this.#clock.stop()
    if (status === 'stopped') this.#stopping.abort()
    this.#notifyWaiters()
    this.#emitStatus()
  }
}

const GO: StopDecision = { kind: 'go' }
const STOPPED: StopDecision = { kind: 'skip', why: RUN_STOPPED }
const SKIPPED_BY_USER: StopDecision = { kind: 'skip', why: SKIPPED }
const AT_PAST: Omit<StoppedAt, 'position'> = { reason: 'back', breakpoints: [] }
const STATUS_INTERVAL = 100
const NO_FACTS: ReturnType<ControlledRun['facts']> = {
  progress: { handshakes: 0, at: 0, ended: 0 },
  open: [],
  counts: { sent: 0, received: 0, errors: 0, skipped: 0, held: 0 },
  metrics: { mean: 0, p95: 0, max: 0, pending: 0 },
}

/** Measures the time in which a run is not paused, in milliseconds. */
class RunClock {
  #before = 0
  #since: number | undefined

  get elapsed(): number {
    return this.#before + (this.#since === undefined ? 0 : performance.now() - this.#since)
  }

  start(): void {
    this.#since ??= performance.now()
  }

  stop(): void {
    this.#before = this.elapsed
    this.#since = undefined
  }
}

interface RunProgress {
  readonly done: number
  readonly total: number
  readonly elapsed: number
  /** Milliseconds of the tape: at the next message, and at the end. */
  readonly at: number
  readonly ended: number
}

/** Estimates the time left from the tape if it sets the pace, and otherwise from the messages so far. */
function remainingTime({ done, total, elapsed, at, ended }: RunProgress, timing: Timing): number | undefined {
  if (total > 0 && done >= total) return 0
  if (timing.kind === 'original') return Math.round(ended - at)
  if (timing.kind === 'scaled') return Math.round((ended - at) / timing.factor)
  return done === 0 ? undefined : Math.round((elapsed / done) * (total - done))
}

function notPossible(problem: string, hint: string): ReelayError {
  return new ReelayError('USAGE', problem, { hint })
}
