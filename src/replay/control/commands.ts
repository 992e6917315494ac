import { ReelayError } from '../../errors.ts'
import { isObject } from '../../json/parse.ts'
import type { SendDecision } from '../plan/plan-columns.ts'
import type { StepFinding, StepState } from '../steps/step.ts'
import { suggestName } from '../../text.ts'

/** A command to a controller as plain JSON: a debug adapter, a control socket or a script sends them as they are. */
export type ControllerCommand =
  /** Begins to send the messages of a run that was created paused; the same as `resume`. */
  | { readonly type: 'start' }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'stop' }
  /** Goes to the next message, or with the unit `message`, first to the response of this one. Only a paused run can step. */
  | { readonly type: 'step'; readonly unit?: StepUnit }
  /** Shows the previous message. Nothing is sent, and the live server keeps its state. */
  | { readonly type: 'stepBack'; readonly unit?: StepUnit }
  /** Goes back to the last message at which a breakpoint holds, or to the first message. */
  | { readonly type: 'reverse' }
  /** Goes to a message: back without sending anything, or forward by sending the messages in between. */
  | ({ readonly type: 'seek' } & SeekTarget)
  /** Changes the pace: `fast`, `original`, a factor such as `x2`, a delay such as `100ms`, or a rate such as `50rps`. */
  | { readonly type: 'speed'; readonly speed: string }
  | ({ readonly type: 'addBreakpoint' } & BreakpointSpec)
  | { readonly type: 'removeBreakpoint'; readonly id: number }
  | { readonly type: 'listBreakpoints' }
  /** Changes the message that waits to be sent, or if none does, the next one. */
  | { readonly type: 'modifyNext'; readonly action: MessageEdit }
  /** Changes the message that is shown, or the one with this index: before it is sent, or if it was sent, for `resend`. */
  | { readonly type: 'modify'; readonly index?: number; readonly action: MessageEdit }
  /** Sends a message that is not on the tape, now. */
  | { readonly type: 'inject'; readonly message: unknown }
  /** Sends a message again that was sent before: the one that is shown, or the one with this index. */
  | { readonly type: 'resend'; readonly index?: number; readonly action?: MessageEdit }
  /** Returns the message that is shown, or the one with this index. */
  | { readonly type: 'show'; readonly index?: number }
  | { readonly type: 'status' }

/** `exchange`: a message with its response; `message`: one line of the tape. */
export type StepUnit = 'exchange' | 'message'

/** The place of a seek; exactly one member is given. */
export type SeekTarget =
  | { readonly index: number }
  /** The number of an exchange, as in `#38`. */
  | { readonly exchange: number }
  | { readonly frame: number }
  /** Milliseconds from the start of the tape. */
  | { readonly time: number }
  | { readonly percent: number }

/** A change of a message before it is sent. Paths begin at the message, as in `params.arguments.q`. */
export type MessageEdit =
  | { readonly kind: 'replace'; readonly message: unknown }
  | { readonly kind: 'set'; readonly path: string; readonly value: unknown }
  | { readonly kind: 'remove'; readonly path: string }
  | { readonly kind: 'skip' }
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Does not send the message, and takes this error as its response. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** Takes back all changes. */
  | { readonly kind: 'reset' }

/** Where a run stops. Every member that is given must hold. */
export interface BreakpointSpec {
  /** A filter, such as `#38`, `tool:search` or `result.structuredContent.total > 100`. */
  readonly filter?: string
  /** A frame of the tape: that of a request, or that of its response. */
  readonly frame?: number
  /** Position among the client's messages on the tape, from 0. */
  readonly index?: number
  /** Stops only if the response differs from the tape. */
  readonly difference?: boolean
  /** Before the message is sent, or after its response. The default is `response` if the filter depends on the response. */
  readonly phase?: StopPhase
  /** Prints this text instead of stopping; `{result.total}` is replaced by the value at the path. */
  readonly log?: string
  /** Stops only at some hits: `3` or `==3`, `>=3`, or `%3` for every third. */
  readonly hits?: string
  /** Removes the breakpoint after the first stop. */
  readonly once?: boolean
}

/** A breakpoint of a controller. */
export interface Breakpoint extends BreakpointSpec {
  readonly id: number
  readonly phase: StopPhase
  readonly hitCount: number
}

/** `request`: before the message is sent; `response`: after its response; `end`: after the last message. */
export type StopPhase = 'request' | 'response' | 'end'

export type StopReason =
  | 'entry'
  | 'step'
  | 'back'
  | 'breakpoint'
  | 'difference'
  | 'pause'
  | 'seek'
  | 'failure'
  | 'end'

/** What a controller reports, as plain JSON. */
export type ControllerEvent =
  | StatusEvent
  | StoppedEvent
  /** A message that is done, in the order in which messages end. */
  | DoneEvent
  /** The text of a logpoint. */
  | {
      readonly type: 'output'
      readonly text: string
      readonly breakpoint: number
      readonly index: number
      readonly frame: number
    }
  /** A message that is sent otherwise than recorded because of a command, just before it is sent. */
  | {
      readonly type: 'action'
      readonly action: 'edited' | 'skipped' | 'resent' | 'injected'
      /** The message of the tape; `undefined` for an injected one. */
      readonly message: MessageOutline | undefined
    }
  /** The result of the commands `resend` and `inject`. */
  | ExtraMessageEvent
  /** The run is over: the server is being closed. */
  | { readonly type: 'ended'; readonly status: 'done' | 'stopped' }

/** The progress of a run: sent when the status changes, and at most ten times a second while messages are sent. */
export interface StatusEvent {
  readonly type: 'status'
  readonly status: RunStatus
  readonly progress: {
    /** Messages of the tape that are done, and all of them. The handshake, which Reelay does itself, is not counted. */
    readonly done: number
    readonly total: number
    readonly percent: number
    /** Milliseconds of the run, without the time in which it was paused. */
    readonly elapsed: number
    /** Estimated milliseconds; `undefined` as long as nothing is known. */
    readonly remaining: number | undefined
  }
  readonly current: MessageOutline | undefined
  /** Messages that were sent and have no response yet. */
  readonly open: readonly MessageOutline[]
  readonly counts: {
    readonly sent: number
    readonly received: number
    readonly errors: number
    readonly differences: number
    readonly skipped: number
    readonly held: number
    readonly resent: number
    readonly injected: number
  }
  /** Response times in milliseconds, and responses per second. */
  readonly metrics: {
    readonly mean: number
    readonly p95: number
    readonly max: number
    readonly throughput: number
    /** Requests that wait for their responses. */
    readonly pending: number
  }
}

export interface DoneEvent extends MessageOutline {
  readonly type: 'done'
  readonly state: StepState
  readonly why: string | undefined
  readonly duration: number | undefined
  readonly findings: readonly StepFinding[]
}

export interface StoppedEvent {
  readonly type: 'stopped'
  readonly reason: StopReason
  /** The breakpoints that hold here. */
  readonly breakpoints: readonly number[]
  readonly phase: StopPhase
  /** `undefined` at the end of the tape. */
  readonly message: MessageView | undefined
}

export interface ExtraMessageEvent {
  readonly type: 'resent' | 'injected'
  readonly sent: string
  /** `undefined` if there was no response. */
  readonly response: string | undefined
  readonly why: string | undefined
  readonly duration: number | undefined
  /** The message that was sent again, with the differences of its new response. */
  readonly message: MessageView | undefined
}

export type RunStatus = 'idle' | 'running' | 'paused' | 'stopped' | 'done'

export interface MessageOutline {
  /** Position among the client's messages on the tape, from 0. */
  readonly index: number
  readonly frame: number
  /** The number of the exchange; `undefined` for a notification. */
  readonly exchange: number | undefined
  readonly method: string
  readonly tool: string | undefined
}

/** A message as a debugger shows it. */
export interface MessageView extends MessageOutline {
  /** The frame of the recorded response. */
  readonly responseFrame: number | undefined
  /** Milliseconds from the start of the tape. */
  readonly at: number
  /** Whether the message is sent, and if not, why. */
  readonly decision: SendDecision
  /** False if the message was already sent, or it was decided that it is not. */
  readonly isNext: boolean
  /** The recorded message, and the one that is sent or was sent; `undefined` if it cannot be sent. */
  readonly recorded: string
  readonly request: string | undefined
  /** The live values in the request, and those that are not known yet. */
  readonly bindings: readonly ShownBinding[]
  /** True if a command has changed the request. */
  readonly isEdited: boolean
  readonly recordedResponse: string | undefined
  readonly response: string | undefined
  readonly state: StepState | undefined
  readonly why: string | undefined
  readonly duration: number | undefined
  readonly recordedDuration: number | undefined
  /** The differences between the response and the tape. */
  readonly findings: readonly StepFinding[]
}

export interface ShownBinding {
  /** Where the value is in the request. */
  readonly path: string
  readonly recorded: string
  /** `undefined` as long as the live server has not sent it. */
  readonly live: string | undefined
  /** Where the live value comes from, as in a bindings file. */
  readonly from: string
}

/** Checks a command that came from outside. Throws a `ReelayError` that names the mistake. */
export function readCommand(value: unknown): ControllerCommand {
  if (!isObject(value)) throw invalidCommand('it is not an object')
  const type = String(value['type'])
  const members = Object.hasOwn(COMMANDS, type) ? COMMANDS[type] : undefined
  if (members === undefined)
    throw invalidCommand(`unknown type ${JSON.stringify(type)}${suggestName(type, Object.keys(COMMANDS))}`)
  for (const [name, { is, isRequired }] of Object.entries(members)) {
    const given = value[name]
    if (given === undefined ? isRequired === true : !is(given))
      throw invalidCommand(`${type} needs ${name}${given === undefined ? '' : ' to be of another type'}`)
  }
  const unknown = Object.keys(value).find((name) => name !== 'type' && !Object.hasOwn(members, name))
  if (unknown !== undefined)
    throw invalidCommand(`${type} has no member ${unknown}${suggestName(unknown, Object.keys(members))}`)
  if (type === 'seek' && Object.keys(value).length !== 2)
    throw invalidCommand('seek needs one of index, exchange, frame, time and percent')
  return value as unknown as ControllerCommand
}

interface CommandMember {
  readonly is: (value: unknown) => boolean
  readonly isRequired?: true
}

const [NUMBER, TEXT, YES_OR_NO, ANYTHING]: readonly [
  CommandMember,
  CommandMember,
  CommandMember,
  CommandMember,
] = [
  { is: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0 },
  { is: (value) => typeof value === 'string' },
  { is: (value) => typeof value === 'boolean' },
  { is: () => true },
]
const EDIT: CommandMember = { is: isMessageEdit }
const UNIT: CommandMember = { is: (value) => value === 'exchange' || value === 'message' }

const COMMANDS: Readonly<Record<string, Readonly<Record<string, CommandMember>>>> = {
  start: {},
  pause: {},
  resume: {},
  stop: {},
  step: { unit: UNIT },
  stepBack: { unit: UNIT },
  reverse: {},
  seek: { index: NUMBER, exchange: NUMBER, frame: NUMBER, time: NUMBER, percent: NUMBER },
  speed: { speed: required(TEXT) },
  addBreakpoint: {
    filter: TEXT,
    frame: NUMBER,
    index: NUMBER,
    difference: YES_OR_NO,
    phase: { is: (value) => value === 'request' || value === 'response' },
    log: TEXT,
    hits: TEXT,
    once: YES_OR_NO,
  },
  removeBreakpoint: { id: required(NUMBER) },
  listBreakpoints: {},
  modifyNext: { action: required(EDIT) },
  modify: { index: NUMBER, action: required(EDIT) },
  inject: { message: required(ANYTHING) },
  resend: { index: NUMBER, action: EDIT },
  show: { index: NUMBER },
  status: {},
}

/** The types of all commands. */
export const COMMAND_TYPES: readonly string[] = Object.keys(COMMANDS)

function required({ is }: CommandMember): CommandMember {
  return { is, isRequired: true }
}

function isMessageEdit(value: unknown): boolean {
  if (!isObject(value)) return false
  switch (value['kind']) {
    case 'replace':
      return 'message' in value
    case 'set':
      return typeof value['path'] === 'string' && 'value' in value
    case 'remove':
      return typeof value['path'] === 'string'
    case 'delay':
      return typeof value['milliseconds'] === 'number'
    case 'error':
      return typeof value['code'] === 'number' && typeof value['message'] === 'string'
    default:
      return value['kind'] === 'skip' || value['kind'] === 'reset'
  }
}

function invalidCommand(why: string): ReelayError {
  return new ReelayError('USAGE', `invalid command: ${why}`, {
    hint: `commands are objects such as {"type":"step"} or {"type":"seek","percent":50}; the types are ${Object.keys(COMMANDS).join(', ')}`,
  })
}
