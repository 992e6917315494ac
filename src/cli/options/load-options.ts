import { type Objective, parseObjectives } from '../../load/objectives.ts'
import { type LoadShape, namedShape, parseStages, SHAPE_NAMES, type ShapeName } from '../../load/shape.ts'
import { DEFAULT_START_TIMEOUT } from '../../replay/options.ts'
import { DEFAULT_TIMEOUT } from '../../replay/session/deadlines.ts'
import {
  LIVE_SERVER_OPTIONS,
  type LiveServerFlags,
  paceFactor,
  SECRET_OPTIONS,
  type SecretFlags,
  seedOption,
  serverOption,
} from './live-options.ts'
import {
  inGroup,
  option,
  readOptions,
  usageError,
  type GivenOptions,
  type OptionTable,
  type ValueType,
} from './option.ts'
import {
  choiceOf,
  countValue,
  durationValue,
  fileValue,
  listOf,
  nameList,
  numberValue,
  switchOn,
} from './option-types.ts'
import { jsonOption } from './shared-options.ts'
import { reportOptions, type ReportRequest } from '../output/reports.ts'

interface LoadValues extends LiveServerFlags, SecretFlags {
  readonly sse?: true
  readonly timeout?: number
  readonly startTimeout?: number
  readonly targetAllowed?: readonly string[]
  readonly users?: number
  readonly rate?: number
  readonly for?: number
  readonly shape?: ShapeName
  readonly stages?: LoadShape
  readonly think?: number
  readonly arrivals?: 'even' | 'random'
  readonly weight?: readonly Weight[]
  readonly calibrate?: number
  readonly grace?: number
  readonly maxProcesses?: number
  readonly threads?: number
  readonly hdr?: string
  readonly workers?: URL
  readonly expectWorkers?: number
  readonly seed?: number
  readonly server?: string
  readonly allow?: readonly string[]
  readonly allowWrites?: true
  readonly slo?: readonly Objective[]
  readonly csv?: string
  readonly json?: true
  readonly report?: readonly ReportRequest[]
  readonly reportTokens?: number
}

type Weight = readonly [tape: string, weight: number]

/** The values of `load`: its shape is made from several options. */
export interface LoadFlags extends Omit<LoadValues, 'shape' | 'stages' | 'think'> {
  readonly model: 'open' | 'closed'
  readonly shape: LoadShape
  readonly thinkFactor: number
}

export const redisAddress: ValueType<URL> = {
  kind: 'value',
  name: 'address',
  placeholder: 'redis-url',
  expected: 'the address of Redis, e.g. redis://host:6379',
  parse: (given) => {
    const url = URL.canParse(given) ? new URL(given) : undefined
    return url !== undefined && /^rediss?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined
  },
}

const perSecond: ValueType<number> = {
  kind: 'value',
  name: 'rate',
  placeholder: 'n',
  expected: 'sessions per second, e.g. 50 or 50/s',
  parse: (given) => {
    const number = Number(/^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(given)?.[1])
    return number > 0 ? number : undefined
  },
}

const thinkTime: ValueType<number> = {
  kind: 'value',
  name: 'think time',
  placeholder: 'pace',
  expected: 'recorded, x2 (half as long), or none',
  parse: (given) => {
    if (given === 'none') return 0
    const factor = paceFactor(given)
    return factor === undefined ? undefined : 1 / factor
  },
}

const stages: ValueType<LoadShape> = {
  kind: 'value',
  name: 'stages',
  placeholder: 'stages',
  expected: 'duration:level pairs, e.g. 30s:50,2m:50,10s:0',
  parse: parseStages,
}

const objectives: ValueType<readonly Objective[]> = {
  kind: 'value',
  name: 'objective',
  placeholder: 'limits',
  expected: "limits separated by commas, e.g. 'p99<300ms,error<0.1%,rate>=49'",
  parse: parseObjectives,
  join: (before, after) => [...before, ...after],
}

const weight: ValueType<Weight> = {
  kind: 'value',
  name: 'weight',
  placeholder: 'tape=n',
  expected: 'tape=n, e.g. search=3',
  parse: (given) => {
    const at = given.lastIndexOf('=')
    const number = Number(given.slice(at + 1))
    return at > 0 && number > 0 ? [given.slice(0, at), number] : undefined
  },
}

export const LOAD_OPTIONS: OptionTable<LoadValues> = {
  ...LIVE_SERVER_OPTIONS,
  ...inGroup('Live server', {
    sse: option('--sse', switchOn, 'Use the HTTP+SSE transport of 2024-11-05 from the start', {
      needs: { url: true },
    }),
    timeout: option(
      '--timeout',
      durationValue(),
      `Count a call as failed after this time; by default ${DEFAULT_TIMEOUT / 1000}s, or three times as long as on the tape if that is longer`,
    ),
    startTimeout: option(
      '--start-timeout',
      durationValue(),
      'Wait at most this long for the first response, while the server starts',
      { default: `${DEFAULT_START_TIMEOUT / 1000}s` },
    ),
    targetAllowed: option(
      '--target-allowed <hosts>',
      nameList,
      'Send load to these hosts too; without this option only to this machine (repeatable)',
      { needs: { url: true } },
    ),
    maxProcesses: option(
      '--max-processes',
      countValue(10_000),
      'Start at most this many processes of a server command at once; further sessions wait',
      { default: '32', conflicts: ['url'] },
    ),
  }),
  ...inGroup('Load', {
    users: option(
      '--users',
      countValue(1_000_000),
      'Play sessions with this many users at once (closed model)',
      {
        conflicts: ['rate'],
      },
    ),
    rate: option('--rate', perSecond, 'Start this many sessions per second (open model)'),
    for: option('--for <time>', durationValue('s', 1), 'Run for this long; a plain number is in seconds'),
    shape: option(
      '--shape',
      choiceOf(...SHAPE_NAMES),
      'Change the load over time: constant, ramp (from 0), step (in four steps), spike (five times as much in the middle) or soak (with a short ramp at both ends)',
      { default: 'constant', conflicts: ['stages'] },
    ),
    stages: option(
      '--stages',
      stages,
      'Move to a level in each stage, e.g. 30s:50,2m:50,10s:0; replaces --for, and the number of --users or --rate',
      { conflicts: ['for'] },
    ),
    think: option(
      '--think',
      thinkTime,
      'Pause between calls as recorded, scaled (x2 is half as long), or not at all (none)',
      { default: 'recorded' },
    ),
    arrivals: option(
      '--arrivals',
      choiceOf('even', 'random'),
      'Start sessions at even intervals, or at random times as independent users do',
      { default: 'even', needs: { rate: true } },
    ),
    weight: option(
      '--weight',
      listOf(weight),
      'Play a tape this often in relation to the others (repeatable)',
    ),
    calibrate: option(
      '--calibrate',
      numberValue(1000),
      'Play each session this often before the run, to learn the response times without load; with 0 the recorded times are used',
      { default: '3' },
    ),
    grace: option('--grace <time>', durationValue(), 'Wait this long at the end for sessions to finish', {
      default: '5s',
    }),
    threads: option(
      '--threads',
      countValue(256),
      'Send the load from this many threads; by default one for each 100 users or sessions a second, and at most one for each core but one',
    ),
    seed: seedOption,
  }),
  ...inGroup('Several machines', {
    workers: option(
      '--workers',
      redisAddress,
      'Let the machines play the load that run `reelay worker` with this address of Redis',
      { conflicts: ['threads', 'maxProcesses', 'header', 'secret', 'secrets'] },
    ),
    expectWorkers: option('--expect-workers', countValue(10_000), 'Begin when this many workers are there', {
      default: '1',
      needs: { workers: true },
    }),
  }),
  ...inGroup('Tape', {
    server: serverOption,
    allow: option(
      '--allow <tools>',
      nameList,
      'Call these tools even if they are not marked as read-only (repeatable)',
    ),
    allowWrites: option('--allow-writes', switchOn, 'Call every tool, including those that may write'),
  }),
  ...SECRET_OPTIONS,
  ...inGroup('Output', {
    slo: option(
      '--slo',
      objectives,
      "Exit with code 1 unless all limits are kept, e.g. 'p99<300ms,error<0.1%,rate>=49' (repeatable)",
    ),
    csv: option('--csv', fileValue, 'Write a line for each second to this file'),
    hdr: option(
      '--hdr <file>',
      fileValue,
      'Write the response times of each second as a log of HdrHistogram to this file',
    ),
    ...reportOptions('load'),
    json: jsonOption,
  }),
}

/** Reads the options of `load` and makes the shape of the load from them. */
export function readLoadFlags(given: GivenOptions): LoadFlags {
  const {
    shape,
    stages: staged,
    think = 1,
    ...values
  } = readOptions<LoadValues>(LOAD_OPTIONS, given, {
    command: 'load',
  })
  const { users, rate, for: duration } = values
  const level = users ?? rate
  if (level === undefined)
    throw usageError('neither --users nor --rate is given', 'add --users 10, or --rate 5/s')
  if (staged === undefined && duration === undefined)
    throw usageError('how long the run lasts is not given', 'add --for 30s, or --stages 30s:50,2m:50')
  return {
    ...values,
    model: rate === undefined ? 'closed' : 'open',
    shape: staged ?? namedShape(shape ?? 'constant', level, duration ?? 0),
    thinkFactor: think,
  }
}
