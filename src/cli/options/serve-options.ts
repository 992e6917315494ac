import type { ListenAddress } from '../../http/server/http-server.ts'
import type { MatchOptions } from '../../match/options.ts'
import { parseRequestPath } from '../../match/request-key.ts'
import { parseMatchRule } from '../../match/rules.ts'
import { STRATEGIES, findStrategy } from '../../match/strategies/index.ts'
import { quoteShellWord } from '../../text.ts'
import { CLIENT_ANSWER_POLICIES } from '../../serve/player/playback.ts'
import type { SessionLimits } from '../../serve/http/session-table.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import { LIVE_MODES, type LiveMode } from '../serve/live-plan.ts'
import { CONFIG_OPTIONS, type ConfigFlags } from './config-options.ts'
import {
  LIVE_SERVER_OPTIONS,
  SECRET_OPTIONS,
  type SecretFlags,
  canonicalPace,
  paceFactor,
  seedOption,
  eraValue,
  serverOption,
  type LiveServerFlags,
} from './live-options.ts'
import {
  option,
  inGroup,
  formatOptions,
  invalidValue,
  type GivenOptions,
  type OptionRows,
  type OptionTable,
  type ValueType,
} from './option.ts'
import {
  checkedText,
  choiceOf,
  countValue,
  durationValue,
  fileValue,
  listOf,
  listenValue,
  switchOn,
  parseListenAddress,
  textValue,
} from './option-types.ts'

/** The values of `reelay serve`. Where a name is one of the library's, so is the value. */
export interface ServeFlags
  extends
    LiveServerFlags,
    SecretFlags,
    ConfigFlags,
    MatchOptions,
    SessionLimits,
    Pick<ServeOptions, 'server' | 'as' | 'pace' | 'paceCap' | 'order' | 'onClientAnswer' | 'seed'> {
  readonly stdio?: true
  readonly http?: ListenAddress | true
  readonly sse?: ListenAddress | true
  readonly onMiss?: 'error' | 'passthrough'
  readonly mode?: LiveMode
  readonly clock?: ClockFlag
  readonly override?: string
  readonly faults?: string
  readonly leftovers?: 'fail' | 'note'
}

/** The time of a run: that of the recording, or a fixed date. */
export type ClockFlag = 'recorded' | number

const strategy: ValueType<string> = {
  ...textValue,
  placeholder: 'strategy',
  parse: (given) => findStrategy(given).name,
  schema: { enum: STRATEGIES.flatMap(({ name, alias }) => (alias === undefined ? [name] : [name, alias])) },
}

const servePace: ValueType<NonNullable<ServeOptions['pace']>> = {
  kind: 'value',
  name: 'pace',
  placeholder: 'pace',
  expected: 'none, recorded, or a factor such as x2 or x0.5',
  parse: (given) => (canonicalPace(given) === 'none' ? 'none' : paceFactor(canonicalPace(given))),
}

const ISO_DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)?)?$/
const HAS_ZONE = /(?:Z|[+-]\d\d:\d\d)$/

/** Reads `recorded`, a date, or a date and time, which is UTC unless it has a zone. */
export const clockTime: ValueType<ClockFlag> = {
  kind: 'value',
  name: 'time',
  placeholder: 'time',
  expected: 'recorded, or a date such as 2026-11-15 or 2026-11-15T07:20:59Z',
  parse: (given) => {
    if (given === 'recorded') return given
    if (!ISO_DATE.test(given)) return undefined
    const time = Date.parse(HAS_ZONE.test(given) || !given.includes('T') ? given : `${given}Z`)
    return Number.isNaN(time) ? undefined : time
  },
}

export const SERVE_OPTIONS: OptionTable<ServeFlags> & OptionRows = {
  ...inGroup('Transport', {
    stdio: option('--stdio', switchOn, 'Serve over stdio (the default)', {
      conflicts: ['http', 'sse'],
    }),
    http: option('--http', listenOn('--http'), 'Serve over Streamable HTTP', {
      default: 'a free port on 127.0.0.1',
    }),
    sse: option(
      '--sse',
      listenOn('--sse'),
      'Serve over HTTP+SSE, the transport of revision 2024-11-05; can be combined with --http',
      { default: 'a free port on 127.0.0.1' },
    ),
    maxSessions: option(
      '--max-sessions',
      countValue(),
      'End the session that was unused for the longest time when there are more than this',
      { default: '1000', needs: { http: true, sse: true } },
    ),
    sessionIdleMs: option(
      '--session-idle',
      durationValue('s', 1),
      'End sessions without an open request or stream after this time, e.g. 10m',
      { default: '60m', needs: { http: true, sse: true } },
    ),
  }),
  ...inGroup('Tape', {
    server: serverOption,
    as: option(
      '--as <version>',
      eraValue,
      'Translate the tape for clients of this protocol version: 2026-07-28 (without sessions) or 2025-11-25 (with sessions)',
      { default: 'the version of the tape' },
    ),
  }),
  ...LIVE_SERVER_OPTIONS,
  ...inGroup('Live server', {
    onMiss: option(
      '--on-miss <action>',
      choiceOf('error', 'passthrough'),
      'Answer requests that are not on the tape with an error, or pass them to the live server',
      { default: 'error' },
    ),
    mode: option(
      '--mode <mode>',
      choiceOf(...LIVE_MODES),
      'Record the live server if there is no tape yet (once), for requests that are not on the tape (new-episodes), never (none), or on every run (all)',
      { default: 'once with a live server, none in CI' },
    ),
  }),
  ...inGroup('Comparison', {
    match: option(
      '--match',
      strategy,
      `Match live requests to recorded ones with this strategy: ${STRATEGIES.map(({ name }) => name).join(', ')}`,
      { config: 'match.strategy', default: STRATEGIES[0]?.name ?? '' },
    ),
    rules: option(
      '--rule',
      listOf(checkedText('rule', parseMatchRule)),
      "Add a matching rule, e.g. 'tools/call search params.arguments.date relative-date' (repeatable)",
      { config: 'match.rules' },
    ),
    ignore: option(
      '--ignore',
      listOf(checkedText('path', parseRequestPath)),
      'Do not compare the value at this path, e.g. params.arguments.limit (repeatable)',
    ),
    permissive: option(
      '--permissive',
      switchOn,
      'Repeat the last response if a request comes more often than recorded',
    ),
  }),
  ...inGroup('Timing and order', {
    pace: option(
      '--pace',
      servePace,
      'Send responses at this pace: none (no delays), recorded, or a factor such as x2 for twice as fast',
      { default: 'none' },
    ),
    paceCap: option('--pace-cap', durationValue(), 'Limit each delay of --pace, e.g. 2s', {
      needs: { pace: true },
    }),
    order: option(
      '--order <order>',
      choiceOf('any', 'recorded'),
      'Answer parallel calls as they arrive (any) or in the recorded order',
      { default: 'any' },
    ),
    clock: option(
      '--clock',
      clockTime,
      'Use a fixed time for date comparisons and HTTP Date headers: recorded (the start of the tape) or a date',
      { default: 'the system clock' },
    ),
    seed: { ...seedOption, needs: { faults: true, http: true, sse: true } },
  }),
  ...inGroup('Faults and overrides', {
    override: option(
      '--override',
      fileValue,
      'Replace recorded responses with those in this YAML or JSON file',
    ),
    faults: option(
      '--faults',
      fileValue,
      'Inject the faults in this YAML or JSON file, or those of a preset such as flaky (see reelay faults)',
    ),
  }),
  ...inGroup('Result', {
    onClientAnswer: option(
      '--on-client-answer <policy>',
      choiceOf(...CLIENT_ANSWER_POLICIES),
      'Report (note), reject (fail) or ignore client responses that differ from the recorded ones',
      { default: 'note' },
    ),
    leftovers: option(
      '--leftovers <policy>',
      choiceOf('fail', 'note'),
      'Fail (exit code 1) or only report (note) if the client did not send all recorded requests',
      { default: 'fail' },
    ),
  }),
  ...SECRET_OPTIONS,
  ...CONFIG_OPTIONS,
}

/** Options that a suggested command repeats, so that it is the same run. */
const REPEATED_OPTIONS = [
  'as',
  'pace',
  'paceCap',
  'order',
  'onClientAnswer',
  'override',
  'faults',
  'seed',
  'clock',
  'secret',
  'secrets',
  'config',
  'useConfig',
]

export function repeatedOptions(given: GivenOptions): readonly string[] {
  return formatOptions(SERVE_OPTIONS, given, REPEATED_OPTIONS).map(quoteShellWord)
}

function addressHint(flag: string, given: string): string {
  const [, host] = /^https?:\/\/([^/]+:\d+)/.exec(given) ?? []
  return host === undefined
    ? 'see reelay serve --help'
    : `write it without the rest of the URL: ${flag} ${host}`
}

/** An address that may be left out: then the option may have taken the tape for it, and the error says so. */
function listenOn(flag: string): ValueType<ListenAddress | true> {
  return {
    kind: 'value',
    name: 'address',
    placeholder: 'host:port',
    expected: 'host:port',
    bare: true,
    parse: (given) => {
      const address = parseListenAddress(given)
      if (address !== undefined) return address
      throw invalidValue(
        listenValue,
        given,
        flag,
        /^:\d+$/.test(given)
          ? `did you mean ${flag} ${given.slice(1)}?`
          : /^(localhost|\d+\.[\d.]+)$/.test(given)
            ? `add a port, as in: ${flag} ${given}:8080`
            : /^\d+$/.test(given)
              ? 'see reelay serve --help'
              : given.includes(':')
                ? addressHint(flag, given)
                : `a tape goes before the option: reelay serve my-tape ${flag}`,
      )
    },
  }
}
