import type { Setting } from '../../config/setting.ts'
import { DEFAULT_TIMEOUT, type ReplayOptions } from '../../replay/options.ts'
import type { Ordering } from '../../replay/plan/schedule.ts'
import type { ErrorInjection } from '../../replay/send/error-injection.ts'
import type { ServerRequestPolicy } from '../../replay/session/recorded-answers.ts'
import { CONFIG_OPTIONS, readConfig, readSection, type ConfigFlags } from './config-options.ts'
import { LIVE_SERVER_OPTIONS, seedOption, serverOption, type LiveServerFlags } from './live-options.ts'
import {
  inGroup,
  readOptions,
  withoutEffect,
  type Environment,
  type GivenOptions,
  type OptionRows,
  type OptionTable,
} from './option.ts'
import {
  choiceOf,
  countValue,
  durationValue,
  fileValue,
  listOf,
  nameList,
  numberValue,
  switchOff,
  switchOn,
  textValue,
  toggle,
} from './option-types.ts'
import {
  INJECTED_ERRORS,
  injectedErrors,
  methodPriority,
  replayPace,
  responsePath,
  tolerance,
  transformRules,
  validationRules,
} from './replay-types.ts'
import { SECRET_OPTIONS, type SecretFlags } from './secret-options.ts'
import { jsonOption } from './shared-options.ts'

/** Options of the library that the command line, the project config or both set. */
const SETTING_NAMES = [
  'server',
  'handshake',
  'include',
  'exclude',
  'from',
  'to',
  'skipNotifications',
  'skipErrors',
  'timeout',
  'timing',
  'maxConcurrent',
  'bufferSize',
  'transformIds',
  'updateTimestamps',
  'rules',
  'validate',
  'strict',
  'officialSchema',
  'ignore',
  'ignoreFields',
  'unordered',
  'numeric',
  'slower',
  'validation',
  'onError',
  'maxRetries',
  'retryDelay',
  'allow',
  'allowWrites',
] as const

export type ReplaySettings = Pick<ReplayOptions, (typeof SETTING_NAMES)[number]>

/** The values of `replay` and `verify`. */
export interface ReplayFlags extends ReplaySettings, LiveServerFlags, SecretFlags, ConfigFlags {
  readonly sse?: true
  readonly order?: Ordering['kind']
  readonly priority?: readonly (readonly [method: string, rank: number])[]
  readonly seed?: number
  readonly inject?: number
  readonly injectErrors?: ErrorInjection['errors']
  readonly correlate?: boolean
  readonly bindings?: string
  readonly baseline?: string
  readonly onAsk?: Extract<ServerRequestPolicy, string> | 'ask'
  readonly beforeRun?: string
  readonly repeat?: number
  readonly record?: string
  readonly dryRun?: true
  readonly json?: true
  readonly output?: string
  readonly results?: string
  /** Only `verify` has these. */
  readonly update?: true
  readonly watch?: true
  /** Only the config sets it. */
  readonly parallelExecution?: boolean
}

/** The options of both commands; `verify` has a few more. */
export const REPLAY_OPTIONS: OptionTable<Omit<ReplayFlags, 'update' | 'watch'>> & OptionRows = {
  ...LIVE_SERVER_OPTIONS,
  ...inGroup('Live server', {
    timeout: {
      flag: '--timeout',
      type: durationValue(),
      config: 'replay.defaults.timeout',
      help: 'Wait at most this long for each response; a number alone is milliseconds',
      default: `${DEFAULT_TIMEOUT / 1000}s`,
      isCommon: true,
    },
    sse: {
      flag: '--sse',
      type: switchOn,
      help: 'Use the HTTP+SSE transport of 2024-11-05; without it, HTTP+SSE is tried if a POST is rejected',
      needs: { url: true },
    },
  }),
  ...inGroup('Tape', {
    server: serverOption,
    handshake: {
      flag: '--handshake',
      type: choiceOf('own', 'recorded', 'none'),
      placeholder: 'kind',
      help: 'Start the session with a new handshake (own), the recorded one, or none',
      default: 'own',
    },
    include: {
      flag: '--include',
      type: nameList,
      placeholder: 'methods',
      help: 'Send only these methods or tools, e.g. tools/call:search; * matches any characters (repeatable)',
      isCommon: true,
    },
    exclude: {
      flag: '--exclude',
      type: nameList,
      placeholder: 'methods',
      help: 'Do not send these methods or tools (repeatable)',
      isCommon: true,
    },
    from: {
      flag: '--from',
      type: durationValue(),
      help: 'Skip messages that were sent before this time on the tape',
    },
    to: {
      flag: '--to',
      type: durationValue(),
      help: 'Skip messages that were sent after this time on the tape',
    },
    skipNotifications: {
      flag: '--skip-notifications',
      type: switchOn,
      help: 'Do not send notifications',
    },
    skipErrors: {
      flag: '--skip-errors',
      type: switchOn,
      help: 'Do not send requests that were answered with an error',
    },
  }),
  ...inGroup('Timing and order', {
    timing: {
      flag: '--pace',
      type: replayPace,
      config: 'replay.defaults.speed',
      help: 'Send messages at this pace: none (at once), recorded, a factor such as x2, a delay such as 100ms, a rate such as 50rps, or stepped (one at a time, when you say so)',
      default: 'none',
      isCommon: true,
    },
    maxConcurrent: {
      flag: '--max-concurrent',
      type: countValue(),
      config: 'replay.performance.maxConcurrent',
      help: 'Limit how many requests wait for a response at the same time',
    },
    bufferSize: {
      type: countValue(),
      config: 'replay.performance.bufferSize',
      help: 'Stop sending while this many results wait to be read',
    },
    order: {
      flag: '--order',
      type: choiceOf('correlated', 'sequential', 'priority', 'random'),
      placeholder: 'order',
      help: 'Send messages in this order: as recorded (correlated), one at a time (sequential), by --priority, or random',
      default: 'correlated',
    },
    priority: {
      flag: '--priority',
      type: methodPriority,
      help: 'Send methods with a higher number first, e.g. tools/call=2 (repeatable)',
      needs: { order: 'priority' },
    },
    seed: {
      ...seedOption,
      aliases: ['--inject-seed'],
      needs: { order: 'random', inject: true },
    },
    parallelExecution: {
      type: toggle,
      config: 'replay.performance.parallelExecution',
      help: 'Send several messages at the same time; false sends one at a time',
    },
  }),
  ...inGroup('Sent messages', {
    rules: {
      flag: '--set',
      type: transformRules,
      config: 'replay.transformations',
      help: 'Send another value, e.g. tools/call:$.arguments.q=milk (repeatable)',
    },
    transformIds: {
      flag: '--keep-ids',
      type: switchOff,
      config: 'replay.defaults.transformIds',
      help: 'Send the recorded request ids instead of new ones',
    },
    updateTimestamps: {
      flag: '--update-timestamps',
      type: toggle,
      config: 'replay.defaults.updateTimestamps',
      help: 'Shift timestamps in requests by the age of the recording',
    },
    correlate: {
      flag: '--no-correlate',
      type: switchOff,
      help: 'Send recorded values unchanged, even where the live server returns other ones',
      conflicts: ['bindings'],
    },
    bindings: {
      flag: '--bindings',
      type: fileValue,
      help: 'Read bindings from this file instead of the one beside the tape',
    },
  }),
  ...inGroup('Comparison', {
    validate: {
      flag: '--validate',
      type: toggle,
      config: ['replay.defaults.validateResponses', 'replay.validation.enabled'],
      help: 'Compare responses with the recorded ones',
      default: 'on',
    },
    strict: {
      flag: '--strict',
      type: toggle,
      config: 'replay.validation.strictMode',
      help: 'Treat warnings as errors',
      isCommon: true,
    },
    officialSchema: {
      flag: '--official-schema',
      type: choiceOf('changed', 'always', 'off'),
      placeholder: 'when',
      config: 'replay.validation.officialSchema',
      help: 'Check responses against the official schema of their revision: those that matched it when recorded (changed), all, or none',
      default: 'changed',
    },
    ignoreFields: {
      flag: '--ignore-field',
      type: nameList,
      config: 'replay.validation.ignoreFields',
      help: 'Do not compare members with these names, anywhere in a response (repeatable)',
    },
    ignore: {
      flag: '--ignore',
      type: listOf(responsePath),
      config: 'replay.validation.ignore',
      help: 'Do not compare the value at this path, e.g. result.content[0].text (repeatable)',
      isCommon: true,
    },
    unordered: {
      flag: '--unordered',
      type: listOf(responsePath),
      config: 'replay.validation.unordered',
      help: 'Compare the list at this path without regard to order (repeatable)',
    },
    numeric: {
      flag: '--tolerance',
      type: tolerance,
      config: ['replay.validation.tolerance.numeric', 'replay.tolerance.numeric'],
      help: 'Accept numbers that differ by up to this percentage, e.g. 5',
    },
    slower: {
      flag: '--slower',
      type: durationValue(),
      config: ['replay.validation.tolerance.timing', 'replay.tolerance.timing'],
      help: 'Report responses that are slower than recorded by more than this time',
    },
    validation: {
      type: validationRules,
      config: 'replay.validation.rules',
      help: 'Compare some responses in another way',
    },
    baseline: {
      flag: '--baseline',
      type: textValue,
      placeholder: 'tape',
      help: 'Use a second recording of the session to confirm bindings and detect noise',
    },
    repeat: {
      flag: '--repeat',
      type: countValue(),
      help: 'Replay the tape this many times and compare the runs with each other',
      default: '1',
    },
  }),
  ...inGroup('Errors and faults', {
    onError: {
      flag: '--on-error',
      type: choiceOf('continue', 'pause', 'stop', 'retry'),
      placeholder: 'action',
      config: 'replay.errorHandling.strategy',
      help: 'Continue, pause or stop after a failed step, or send requests without a response again (retry)',
      default: 'continue',
    },
    maxRetries: {
      flag: '--retries',
      type: numberValue(),
      config: 'replay.errorHandling.maxRetries',
      help: 'Retry a request at most this many times',
      default: '3',
    },
    retryDelay: {
      flag: '--retry-delay',
      type: durationValue(),
      config: 'replay.errorHandling.retryDelay',
      help: 'Wait this long before a retry',
      default: '500ms',
    },
    inject: {
      flag: '--inject',
      type: numberValue(1),
      placeholder: 'probability',
      help: 'Let requests fail with this probability, from 0 to 1; they are not sent',
    },
    injectErrors: {
      flag: '--inject-errors',
      type: injectedErrors,
      help: 'Let them fail in these ways: timeout, network-error, invalid-response',
      default: 'all',
      needs: { inject: true },
    },
    onAsk: {
      flag: '--on-ask',
      type: choiceOf('decline', 'fail', 'ask'),
      placeholder: 'action',
      help: 'Decline requests of the server that were not recorded, answer them with an error, or ask at the terminal',
      default: 'decline',
    },
  }),
  ...inGroup('Safety', {
    allow: {
      flag: '--allow',
      type: nameList,
      placeholder: 'tools',
      help: 'Call these tools although they are not marked as read-only (repeatable)',
      isCommon: true,
    },
    allowWrites: {
      flag: '--allow-writes',
      type: switchOn,
      help: 'Call every tool',
      isCommon: true,
    },
    beforeRun: {
      flag: '--before-run',
      type: textValue,
      placeholder: 'command',
      help: 'Run this shell command before each run, e.g. to restore the initial state',
    },
  }),
  ...SECRET_OPTIONS,
  ...inGroup('Output', {
    dryRun: {
      flag: '--dry-run',
      type: switchOn,
      help: 'Show what would be sent, and why the rest would not, without starting anything',
      isCommon: true,
      conflicts: ['output', 'results', 'record', 'update', 'watch'],
    },
    json: { ...jsonOption, help: 'Print the report as JSON', isCommon: true },
    output: {
      flag: '-o, --output',
      type: fileValue,
      help: 'Write the report to this file as JSON',
      isCommon: true,
    },
    results: {
      flag: '--results',
      type: fileValue,
      help: 'Write each request and its response to this file as JSON',
    },
    record: { flag: '--record', type: fileValue, help: 'Record the run to this tape' },
  }),
  ...CONFIG_OPTIONS,
}

export const VERIFY_OPTIONS: OptionTable<ReplayFlags> & OptionRows = {
  ...REPLAY_OPTIONS,
  repeat: {
    ...REPLAY_OPTIONS.repeat,
    help: 'Rerun up to this many times while results differ, to separate changes from noise',
    default: '3',
  },
  update: {
    flag: '--update',
    type: switchOn,
    group: 'Output',
    help: 'Replace recorded responses that differ with the live ones, and list them',
    isCommon: true,
  },
  watch: {
    flag: '--watch',
    type: switchOn,
    group: 'Output',
    help: 'Run again whenever the files of the server change',
    isCommon: true,
  },
}

/** The values of a run: the command line overrides the project config and adds to its lists. Says if a config was used. */
export function readReplayFlags(command: 'replay' | 'verify', given: GivenOptions): ReplayFlags {
  const config = readConfig(lastConfigFlags(given))
  const section = config?.section('replay')
  const configured = section === undefined ? {} : readReplaySection(section, process.env)
  const flags = readOptions<ReplayFlags>(VERIFY_OPTIONS, given, { command, configured })
  rejectIdleRetries(flags, given)
  if (section !== undefined)
    process.stderr.write(`reelay: this run also uses settings from ${config?.file}\n`)
  return flags
}

function lastConfigFlags({ config = [], useConfig }: GivenOptions): ConfigFlags {
  const path = config.at(-1)
  return {
    ...(typeof path === 'string' && { config: path }),
    ...(useConfig !== undefined && { useConfig: false }),
  }
}

/** Retries happen on request: by `--on-error`, or by a validation rule of the config. */
function rejectIdleRetries({ onError, validation = [] }: ReplayFlags, given: GivenOptions): void {
  if (onError === 'retry' || validation.some(({ onFailure }) => onFailure === 'retry')) return
  for (const name of ['maxRetries', 'retryDelay'] as const)
    if (given[name] !== undefined) throw withoutEffect(REPLAY_OPTIONS[name].flag ?? name, '--on-error retry')
}

/** Reads the `replay` section of a config. */
export function readReplaySection(section: Setting, env: Environment): ReplaySettings {
  const { parallelExecution, ...settings } = readSection<ReplayFlags>(section, 'replay', VERIFY_OPTIONS, env)
  return parallelExecution === false ? { ...settings, maxConcurrent: 1 } : settings
}

/** The options of the library that the values stand for. */
export function toReplayOptions(flags: ReplayFlags): Omit<ReplayOptions, 'target'> {
  const settings = SETTING_NAMES.map((name) => [name, flags[name]])
  const { order, inject, injectErrors = INJECTED_ERRORS, seed } = flags
  return {
    ...Object.fromEntries(settings.filter(([, value]) => value !== undefined)),
    ...(order !== undefined && { ordering: readOrdering(order, flags) }),
    ...(inject !== undefined && {
      injection: { probability: inject, errors: injectErrors, ...(seed !== undefined && { seed }) },
    }),
  }
}

function readOrdering(kind: Ordering['kind'], { seed = 1, priority = [] }: ReplayFlags): Ordering {
  if (kind === 'random') return { kind, seed }
  return kind === 'priority' ? { kind, of: Object.fromEntries(priority) } : { kind }
}
