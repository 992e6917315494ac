import type { Setting } from '../../config/setting.ts'
import { DEFAULT_LEARN_RUNS } from '../../replay/noise/learn-noise.ts'
import { DEFAULT_START_TIMEOUT, type ReplayOptions } from '../../replay/options.ts'
import { DEFAULT_TIMEOUT } from '../../replay/session/deadlines.ts'
import type { Ordering } from '../../replay/plan/schedule.ts'
import type { ErrorInjection } from '../../replay/send/request-faults.ts'
import type { TransformRule } from '../../replay/transform/rule.ts'
import type { ServerRequestPolicy } from '../../replay/session/recorded-answers.ts'
import {
  CONFIG_OPTIONS,
  announceConfig,
  readConfig,
  readSection,
  type ConfigFlags,
} from './config-options.ts'
import {
  LIVE_SERVER_OPTIONS,
  SECRET_OPTIONS,
  type SecretFlags,
  seedOption,
  serverOption,
  eraValue,
  type LiveServerFlags,
} from './live-options.ts'
import {
  option,
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
  configuredOrder,
  parameterOverrides,
  type ConfiguredOrder,
  injectedErrors,
  methodPriority,
  replayPace,
  responsePath,
  tolerance,
  transformRules,
  validationRules,
} from './replay-types.ts'
import { jsonOption } from './shared-options.ts'
import { reportOptions, type ReportRequest } from '../output/reports.ts'

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
  'startTimeout',
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

type ReplaySettings = Pick<ReplayOptions, (typeof SETTING_NAMES)[number]>

/** The values of `replay` and `verify`. */
export interface ReplayFlags extends ReplaySettings, LiveServerFlags, SecretFlags, ConfigFlags {
  readonly sse?: true
  readonly order?: Ordering['kind']
  readonly priority?: readonly (readonly [method: string, rank: number])[]
  readonly seed?: number
  readonly faults?: string
  readonly inject?: number
  readonly injectErrors?: ErrorInjection['errors']
  readonly correlate?: boolean
  readonly bindings?: string
  readonly baseline?: string
  readonly as?: string
  readonly onAsk?: Extract<ServerRequestPolicy, string> | 'ask'
  readonly beforeRun?: string
  readonly repeat?: number
  readonly flaky?: 'fail' | 'allow'
  readonly record?: string
  readonly dryRun?: true
  readonly report?: readonly ReportRequest[]
  readonly reportTokens?: number
  readonly quiet?: true
  readonly json?: true
  readonly verbose?: true
  readonly output?: string
  readonly results?: string
  /** Only `verify` has these. */
  readonly update?: true
  readonly watch?: true
  readonly noiseProfile?: string
  readonly useNoiseProfile?: boolean
  readonly explain?: number
  /** Only the config sets these. */
  readonly parallelExecution?: boolean
  readonly ordering?: ConfiguredOrder
  readonly parameterOverrides?: readonly TransformRule[]
}

/** The options of both commands; `verify` has a few more. */
export const REPLAY_OPTIONS: OptionTable<
  Omit<ReplayFlags, 'update' | 'watch' | 'noiseProfile' | 'useNoiseProfile' | 'explain'>
> &
  OptionRows = {
  ...LIVE_SERVER_OPTIONS,
  ...inGroup('Live server', {
    timeout: option(
      '--timeout',
      durationValue(),
      `Wait at most this long for each response; a plain number is in milliseconds; by default ${DEFAULT_TIMEOUT / 1000}s, or three times as long as on the tape if that is longer`,
      { config: 'replay.defaults.timeout' },
    ),
    startTimeout: option(
      '--start-timeout',
      durationValue(),
      'Wait at most this long for the first response, while the server starts; with --url the default is --timeout, but at least 10s',
      { config: 'replay.defaults.startTimeout', default: `${DEFAULT_START_TIMEOUT / 1000}s` },
    ),
    sse: option(
      '--sse',
      switchOn,
      'Use the HTTP+SSE transport of 2024-11-05 from the start, not only after a rejected POST',
      { needs: { url: true } },
    ),
  }),
  ...inGroup('Tape', {
    server: serverOption,
    as: option(
      '--as <version>',
      eraValue,
      'Play the tape against a server of this protocol version: 2026-07-28 (without sessions) or 2025-11-25 (with sessions)',
      { default: 'the version of the tape' },
    ),
    handshake: option(
      '--handshake <kind>',
      choiceOf('own', 'recorded', 'none'),
      'Send a new handshake (own), the recorded one, or none',
      { default: 'own' },
    ),
    include: option(
      '--include <methods>',
      nameList,
      'Send only these methods or tools, e.g. tools/call:search, or exchanges, e.g. #38; * matches any characters (repeatable)',
      { config: ['replay.include', 'replay.includeMethods'] },
    ),
    exclude: option(
      '--exclude <methods>',
      nameList,
      'Do not send these methods, tools or exchanges (repeatable)',
      {
        config: ['replay.exclude', 'replay.excludeMethods'],
      },
    ),
    from: option(
      '--from',
      durationValue(),
      'Skip messages that were recorded before this time, counted from the start of the tape',
      { config: ['replay.from', 'replay.startOffset'] },
    ),
    to: option(
      '--to',
      durationValue(),
      'Skip messages that were recorded after this time, counted from the start of the tape',
      { config: ['replay.to', 'replay.endOffset'] },
    ),
    skipNotifications: option('--skip-notifications', toggle, 'Do not send notifications', {
      config: 'replay.skipNotifications',
    }),
    skipErrors: option('--skip-errors', toggle, 'Do not send requests whose recorded response is an error', {
      config: 'replay.skipErrors',
    }),
  }),
  ...inGroup('Timing and order', {
    timing: option(
      '--pace',
      replayPace,
      'Send messages at this pace: none (no delays), recorded, a factor such as x2, a delay such as 100ms, a rate such as 50rps, or stepped (confirm each message at the terminal)',
      { config: 'replay.defaults.speed', default: 'none' },
    ),
    maxConcurrent: option(
      '--max-concurrent',
      countValue(),
      'Limit how many requests are open at the same time',
      { config: 'replay.performance.maxConcurrent' },
    ),
    bufferSize: {
      type: countValue(),
      config: 'replay.performance.bufferSize',
      help: 'Stop sending while this many results are unread',
    },
    order: option(
      '--order <order>',
      choiceOf('correlated', 'sequential', 'priority', 'random'),
      'Send messages in this order: as recorded (correlated), one at a time (sequential), by --priority, or random',
      { default: 'correlated', config: 'replay.order' },
    ),
    ordering: {
      type: configuredOrder,
      config: 'replay.ordering',
      help: 'Send messages in this order: a word, { priority: { tools/call: 2 } } or { random: { seed: 7 } }',
    },
    priority: option(
      '--priority',
      methodPriority,
      'Send methods with a higher number first, e.g. tools/call=2 (repeatable)',
      { needs: { order: 'priority' }, config: 'replay.priority' },
    ),
    seed: {
      ...seedOption,
      aliases: ['--inject-seed'],
      config: ['replay.seed', 'replay.errorInjection.seed'],
      needs: { order: 'random', inject: true, faults: true },
    },
    parallelExecution: {
      type: toggle,
      config: 'replay.performance.parallelExecution',
      help: 'Send several messages at the same time; false sends one at a time',
    },
  }),
  ...inGroup('Sent messages', {
    rules: option(
      '--set',
      transformRules,
      'Change a value before sending, e.g. tools/call:$.arguments.q=milk (repeatable)',
      { config: 'replay.transformations' },
    ),
    parameterOverrides: {
      type: parameterOverrides,
      config: 'replay.parameterOverrides',
      help: 'Change values before sending, as --set does: tools/call:$.arguments.q, and the value',
    },
    transformIds: option('--keep-ids', switchOff, 'Send the recorded request ids instead of new ones', {
      config: 'replay.defaults.transformIds',
    }),
    updateTimestamps: option(
      '--update-timestamps',
      toggle,
      'Shift timestamps in requests by the age of the recording',
      { config: 'replay.defaults.updateTimestamps' },
    ),
    correlate: option(
      '--no-correlate',
      switchOff,
      'Send recorded ids, cursors and handles, instead of those that the live server returns',
      { conflicts: ['bindings'] },
    ),
    bindings: option(
      '--bindings',
      fileValue,
      'Read bindings from this file instead of the one next to the tape',
    ),
  }),
  ...inGroup('Comparison', {
    validate: option('--validate', toggle, 'Compare responses with the recorded ones', {
      config: ['replay.defaults.validateResponses', 'replay.validation.enabled'],
      default: 'on',
    }),
    strict: option('--strict', toggle, 'Treat warnings as errors', {
      config: 'replay.validation.strictMode',
    }),
    officialSchema: option(
      '--official-schema <when>',
      choiceOf('changed', 'always', 'off'),
      'Check responses against the official schema of their revision: those that matched it when recorded (changed), all, or none',
      { config: 'replay.validation.officialSchema', default: 'changed' },
    ),
    ignoreFields: option(
      '--ignore-field',
      nameList,
      'Do not compare fields with these names, anywhere in a response (repeatable)',
      { config: 'replay.validation.ignoreFields' },
    ),
    ignore: option(
      '--ignore',
      listOf(responsePath),
      'Do not compare the value at this path, e.g. result.content[0].text (repeatable)',
      { config: 'replay.validation.ignore' },
    ),
    unordered: option(
      '--unordered',
      listOf(responsePath),
      'Ignore the order of the list at this path (repeatable)',
      { config: 'replay.validation.unordered' },
    ),
    numeric: option('--tolerance', tolerance, 'Accept numbers that differ by up to this percentage, e.g. 5', {
      config: ['replay.validation.tolerance.numeric', 'replay.tolerance.numeric'],
    }),
    slower: option(
      '--slower',
      durationValue(),
      'Report responses that take longer than recorded by more than this',
      { config: ['replay.validation.tolerance.timing', 'replay.tolerance.timing'] },
    ),
    validation: {
      type: validationRules,
      config: 'replay.validation.rules',
      help: 'Add rules for comparing responses',
    },
    baseline: option(
      '--baseline <tape>',
      textValue,
      'Use a second recording of the session to confirm bindings and detect noise',
    ),
    repeat: option(
      '--repeat',
      countValue(),
      'Replay the tape this many times and compare the runs with each other',
      { default: '1' },
    ),
    flaky: option(
      '--flaky <action>',
      choiceOf('fail', 'allow'),
      'Fail (exit code 1) or allow (exit code 0) differences that occur only in some of the runs',
      { default: 'fail' },
    ),
  }),
  ...inGroup('Errors and faults', {
    onError: option(
      '--on-error <action>',
      choiceOf('continue', 'pause', 'stop', 'retry'),
      'Continue, pause or stop after a failed step; retry resends requests that got no response',
      { config: 'replay.errorHandling.strategy', default: 'continue' },
    ),
    maxRetries: option('--retries', numberValue(), 'Retry a request at most this many times', {
      config: 'replay.errorHandling.maxRetries',
      default: '3',
    }),
    retryDelay: option('--retry-delay', durationValue(), 'Wait this long before a retry', {
      config: 'replay.errorHandling.retryDelay',
      default: '500ms',
    }),
    faults: option(
      '--faults',
      fileValue,
      'Inject the faults in this YAML or JSON file, or those of a preset such as flaky (see reelay faults)',
    ),
    inject: option(
      '--inject <probability>',
      numberValue(1),
      'Make requests fail with this probability (0 to 1) instead of sending them',
      { config: ['replay.inject', 'replay.errorInjection.probability'] },
    ),
    injectErrors: option(
      '--inject-errors',
      injectedErrors,
      'Use these faults for --inject: timeout, disconnect, malformed',
      {
        default: 'all',
        needs: { inject: true },
        config: ['replay.injectErrors', 'replay.errorInjection.errors', 'replay.errorInjection.errorTypes'],
      },
    ),
    onAsk: option(
      '--on-ask <action>',
      choiceOf('decline', 'fail', 'ask'),
      'Decline server requests that were not recorded, answer them with an error (fail), or ask at the terminal',
      { default: 'decline' },
    ),
  }),
  ...inGroup('Safety', {
    allow: option(
      '--allow <tools>',
      nameList,
      'Call these tools even if they are not marked as read-only (repeatable)',
    ),
    allowWrites: option('--allow-writes', switchOn, 'Call every tool, including those that may write'),
    beforeRun: option(
      '--before-run <command>',
      textValue,
      'Run this shell command before each run, e.g. to restore the initial state',
    ),
  }),
  ...SECRET_OPTIONS,
  ...inGroup('Output', {
    dryRun: option(
      '--dry-run',
      switchOn,
      'Show which messages would be sent, and why others would not; start nothing',
      { conflicts: ['report', 'output', 'results', 'record', 'update', 'watch'] },
    ),
    ...reportOptions('replay'),
    json: { ...jsonOption, help: 'Print the report as JSON' },
    verbose: option(
      '-v, --verbose',
      switchOn,
      'Show every step, all noise, the stderr of the server, and frame numbers',
    ),
    quiet: option('-q, --quiet', switchOn, 'Print nothing; the exit code tells the result', {
      conflicts: ['json', 'verbose', 'dryRun'],
    }),
    output: option('-o, --output', fileValue, 'Write the report to this file as JSON'),
    results: option('--results', fileValue, 'Write each request and its response to this file as JSON'),
    record: option('--record', fileValue, 'Record the run to this tape'),
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
  noiseProfile: option(
    '--noise-profile',
    fileValue,
    'Read the noise profile from this file instead of the one next to the tape',
    { group: 'Comparison' },
  ),
  useNoiseProfile: option(
    '--no-noise-profile',
    switchOff,
    'Ignore the noise profile next to the tape and learn noise from the server under test',
    { group: 'Comparison', conflicts: ['noiseProfile'] },
  ),
  explain: option(
    '--explain <exchange>',
    countValue(),
    'Explain for each difference of this exchange why it is noise or not, e.g. 4 for #4',
    { group: 'Output' },
  ),
  update: option(
    '--update',
    switchOn,
    'Replace recorded responses that differ with the live ones and list the changes',
    { group: 'Output', conflicts: ['as'] },
  ),
  watch: option('--watch', switchOn, 'Run again whenever a file of the server changes', {
    group: 'Output',
  }),
}

/** The options of `learn`: those of a run, without those that judge its responses. */
export interface LearnFlags {
  readonly runs?: number
  readonly profile?: string
}

export const LEARN_ONLY_OPTIONS: OptionTable<LearnFlags> & OptionRows = {
  ...inGroup('Profile', {
    runs: option('--runs', countValue(1000), 'Play the tape this many times', {
      default: `${DEFAULT_LEARN_RUNS}, or ${2 * DEFAULT_LEARN_RUNS} if values are rare`,
    }),
    profile: option('-o, --output', fileValue, 'Write the profile to this file', {
      default: 'next to the tape',
    }),
  }),
}

/** The options of a run that `learn` has too. */
export const SHARED_WITH_LEARN: readonly (keyof typeof REPLAY_OPTIONS)[] = [
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
  'maxConcurrent',
  'rules',
  'updateTimestamps',
  'correlate',
  'bindings',
  'baseline',
  'onAsk',
  'allow',
  'allowWrites',
  'beforeRun',
  'secret',
  'secrets',
  'config',
  'useConfig',
]

export const LEARN_OPTIONS: OptionRows = {
  ...Object.fromEntries(SHARED_WITH_LEARN.map((name) => [name, REPLAY_OPTIONS[name]])),
  ...LEARN_ONLY_OPTIONS,
  json: { ...jsonOption, group: 'Profile' },
  verbose: { ...REPLAY_OPTIONS.verbose, help: 'Show the stderr of the server', group: 'Profile' },
}

/** The values of a run: the command line overrides the project config and adds to its lists. Says if a config was used. */
export function readReplayFlags(
  command: 'replay' | 'verify' | 'learn' | 'debug' | 'shrink' | 'capsule run' | 'vary' | 'isolate',
  given: GivenOptions,
): ReplayFlags {
  const isDryRun = given['dryRun'] !== undefined
  announceConfig(lastConfigFlags(given), isDryRun ? 'ignore' : 'run')
  const config = readConfig(lastConfigFlags(given), isDryRun ? 'ignore' : 'run')
  const section = config?.section('replay')
  const configured = section === undefined ? {} : readReplaySection(section, process.env)
  const flags = readOptions<ReplayFlags>(VERIFY_OPTIONS, given, { command, configured })
  rejectIdleRetries(flags, given)
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
export function readReplaySection(section: Setting, env: Environment): Partial<ReplayFlags> {
  const read = readSection<ReplayFlags>(section, 'replay', VERIFY_OPTIONS, env)
  const { parallelExecution, ordering, parameterOverrides: overrides, ...settings } = read
  for (const name of ['order', 'priority', 'seed'] as const)
    if (settings[name] !== undefined && ordering?.[name] !== undefined)
      throw section.invalidAt(['ordering'], `and "${name}" set the same option; leave one of them out`)
  const flags: Partial<ReplayFlags> = {
    ...settings,
    ...ordering,
    ...(overrides && { rules: [...(settings.rules ?? []), ...overrides] }),
    ...(parallelExecution === false && { maxConcurrent: 1 }),
  }
  if (flags.injectErrors !== undefined && flags.inject === undefined)
    throw section.invalidAt(['errorInjection'], 'needs "probability"')
  if (flags.priority !== undefined && flags.order !== 'priority')
    throw section.invalidAt(['priority'], 'has no effect unless the order is "priority"')
  return flags
}

/** Converts the values to options of the library. */
export function toReplayOptions(flags: ReplayFlags): Omit<ReplayOptions, 'target'> {
  const settings = SETTING_NAMES.map((name) => [name, flags[name]])
  const { order, inject, injectErrors = INJECTED_ERRORS, seed, url, timeout = DEFAULT_TIMEOUT } = flags
  return {
    // A server at a URL has started already.
    ...(url !== undefined && { startTimeout: Math.max(timeout, DEFAULT_TIMEOUT) }),
    ...Object.fromEntries(settings.filter(([, value]) => value !== undefined)),
    ...(order !== undefined && { ordering: readOrdering(order, flags) }),
    ...(seed !== undefined && { seed }),
    ...(inject !== undefined && {
      injection: { probability: inject, errors: injectErrors, ...(seed !== undefined && { seed }) },
    }),
  }
}

function readOrdering(kind: Ordering['kind'], { seed = 1, priority = [] }: ReplayFlags): Ordering {
  if (kind === 'random') return { kind, seed }
  return kind === 'priority' ? { kind, of: Object.fromEntries(priority) } : { kind }
}
