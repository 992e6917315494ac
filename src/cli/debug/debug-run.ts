import { turnStoreOf } from '../../tape/turns.ts'
import { ReplayController } from '../../replay/control/controller.ts'
import type { ControllerEvent, MessageView } from '../../replay/control/commands.ts'
import { type Replay, replay } from '../../replay/replay.ts'
import { liveSecrets } from '../../replay/session/live-secrets.ts'
import { tapeBindings } from '../../replay/values/tape-bindings.ts'
import type { ReportRedactor } from '../../serve/redaction/report-redactor.ts'
import { loadTape } from '../../store/file/read.ts'
import { requireNewTape } from '../../store/file/write.ts'
import { resolveTape } from '../../store/home.ts'
import { type IndexedTape, openIndexedTape } from '../../store/index/indexed-tape.ts'
import { readSecretValues } from '../options/live-options.ts'
import { inGroup, option, type OptionRows } from '../options/option.ts'
import { REPLAY_OPTIONS, type ReplayFlags, toReplayOptions } from '../options/replay-options.ts'
import { createRunRedactor, redactFinding } from '../replay/run-reports.ts'
import { printRunTape, readReplayTarget } from '../replay/replay-target.ts'
import { recordTarget } from '../../replay/record-target.ts'

/** The options of a run that the debugger has too. Messages are sent one at a time, in recorded order. */
const SHARED_NAMES: readonly (keyof typeof REPLAY_OPTIONS)[] = [
  'url',
  'header',
  'timeout',
  'startTimeout',
  'sse',
  'server',
  'handshake',
  'include',
  'exclude',
  'from',
  'to',
  'skipNotifications',
  'skipErrors',
  'timing',
  'rules',
  'transformIds',
  'updateTimestamps',
  'correlate',
  'bindings',
  'baseline',
  'validate',
  'strict',
  'officialSchema',
  'ignoreFields',
  'ignore',
  'unordered',
  'numeric',
  'slower',
  'onAsk',
  'allow',
  'allowWrites',
  'secret',
  'secrets',
  'verbose',
  'record',
  'config',
  'useConfig',
]

export const DEBUG_RUN_OPTIONS: OptionRows = {
  ...Object.fromEntries(SHARED_NAMES.map((name) => [name, REPLAY_OPTIONS[name]])),
  ...inGroup('Timing and order', {
    timing: option(
      '--pace',
      REPLAY_OPTIONS.timing.type,
      'Send messages at this pace while the run continues: none (no delays), recorded, a factor such as x2, a delay such as 100ms, or a rate such as 50rps',
      { default: 'none' },
    ),
  }),
}

export interface DebugRunOptions {
  readonly tape: string
  readonly command: readonly string[]
  readonly flags: ReplayFlags
  readonly signal: AbortSignal
  /** Where the server is started, and its environment. */
  readonly surroundings?: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv }
  /** Called with what the server writes to stderr. */
  readonly onStderr: (chunk: Uint8Array) => void
}

/** A run of a tape that a debugger controls. */
export interface DebugRun {
  readonly tape: IndexedTape
  readonly controller: ReplayController
  /** Replaces secrets in everything that is shown. */
  readonly screen: ReportRedactor
  /** Starts the server and sends the messages. */
  start(): Replay
  /** Ends the tape of the run, if there is one, and closes the tape that is debugged. May be called more than once. */
  close(): Promise<void>
}

/** Opens the tape and prepares a run; the server is not started yet. */
export async function openDebugRun({
  tape: name,
  command,
  flags,
  signal,
  onStderr,
  surroundings,
}: DebugRunOptions): Promise<DebugRun> {
  const tape = await openIndexedTape(resolveTape(name), { side: 'server' })
  try {
    if (flags.record !== undefined) requireNewTape(resolveTape(flags.record))
    const baseline =
      flags.baseline === undefined ? undefined : await loadTape(resolveTape(flags.baseline), 'server')
    const correlate = flags.correlate !== false && (await tapeBindings(tape, { ...flags, baseline }))
    const values = readSecretValues(flags)
    const { target, closeTape, addEvent } = recordTarget(
      readReplayTarget(command, flags, onStderr, surroundings),
      {
        path: flags.record,
        of: tape.header.id,
        handshake: flags.handshake,
        turns: turnStoreOf(tape.turns),
        command,
        secrets: values,
      },
    )
    const secrets = liveSecrets(tape.header, { values })
    const controller = new ReplayController()
    controller.subscribe((event) => recordAction(event, addEvent))
    let closing: Promise<void> | undefined
    return {
      tape,
      controller,
      screen: createRunRedactor(secrets),
      start: () =>
        replay(tape, {
          ...toReplayOptions(flags),
          asRecordedClient: flags.record !== undefined && flags.handshake === undefined,
          ordering: { kind: 'sequential' },
          correlate,
          ...(secrets && { secrets }),
          target,
          signal: AbortSignal.any([signal, controller.stopped]), // who leaves does not wait for open requests
          controller,
          onAsk: flags.onAsk === 'fail' ? 'fail' : 'decline',
        }),
      close: () =>
        (closing ??= closeTape()
          .then(printRunTape)
          .finally(() => tape.close())),
    }
  } catch (error) {
    tape.close()
    throw error
  }
}

/** Writes on the tape of the run what the user did, so that it can be told from what the recorded client did. */
function recordAction(
  event: ControllerEvent,
  addEvent: (event: string, details: Readonly<Record<string, unknown>>) => void,
): void {
  if (event.type === 'action') {
    const { action, message } = event
    addEvent('debugger', { action, ...(message && { exchange: message.exchange, frame: message.frame }) })
  } else if (event.type === 'ended' && event.status === 'stopped') addEvent('debugger', { action: 'stopped' })
}

/** A message without secrets. */
export function redactView(view: MessageView, screen: ReportRedactor): MessageView {
  const text = (plain: string | undefined): string | undefined => plain && screen.text(plain)
  return {
    ...view,
    recorded: screen.text(view.recorded),
    request: text(view.request),
    bindings: view.bindings.map((binding) => ({
      ...binding,
      recorded: screen.text(binding.recorded),
      live: text(binding.live),
    })),
    recordedResponse: text(view.recordedResponse),
    response: text(view.response),
    why: text(view.why),
    findings: view.findings.map((finding) => redactFinding(finding, screen)),
  }
}
