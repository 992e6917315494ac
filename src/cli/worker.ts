import { availableParallelism } from 'node:os'
import type { CommandDefinition } from './command.ts'
import { defineCommand } from './command.ts'
import { redisAddress } from './options/load-options.ts'
import {
  LIVE_SERVER_OPTIONS,
  readSecretValues,
  SECRET_OPTIONS,
  type LiveServerFlags,
  type SecretFlags,
} from './options/live-options.ts'
import { inGroup, option, usageError } from './options/option.ts'
import { countValue, nameList, switchOn } from './options/option-types.ts'
import { FoldedStderr, readReplayTarget } from './replay/replay-target.ts'
import { abortOnSignals } from './signals.ts'
import { bareHost, isLoopback } from '../http/hosts.ts'
import { load, type LoadOptions } from '../load/load.ts'
import { threadPart } from '../load/threads.ts'
import type { RunPlan } from '../load/workers/messages.ts'
import { type ReceivedRun, runWorker } from '../load/workers/worker.ts'
import { openIndexedTape } from '../store/index/indexed-tape.ts'
import { ReelayError } from '../errors.ts'
import { escapeControlChars } from '../text.ts'

interface WorkerFlags extends SecretFlags, Pick<LiveServerFlags, 'header'> {
  readonly targetAllowed?: readonly string[]
  readonly threads?: number
  readonly maxProcesses?: number
  readonly once?: true
}

export const workerCommand: CommandDefinition = defineCommand<WorkerFlags>({
  name: 'worker',
  usage: '[options] <redis-url> [-- <server command…>]',
  arguments: {
    '<redis-url>': 'The address of Redis, which is also given to `reelay load --workers`',
    '[command...]': 'The server command that runs without --url use, after --',
  },
  options: {
    ...inGroup('Live server', {
      header: { ...LIVE_SERVER_OPTIONS.header, needs: {} },
      targetAllowed: option(
        '--target-allowed <hosts>',
        nameList,
        'Send load to these hosts too; without this option only to this machine (repeatable)',
      ),
      maxProcesses: option(
        '--max-processes',
        countValue(10_000),
        'Start at most this many processes of the server command at once for each part',
        { default: '32' },
      ),
    }),
    ...inGroup('Load', {
      threads: option(
        '--threads',
        countValue(256),
        'Play this many parts of a run at once; by default one for each core but one',
      ),
      once: option('--once', switchOn, 'End after one run'),
    }),
    ...SECRET_OPTIONS,
  },
  run: async ([address = '', ...command], flags) => {
    const part = threadPart()
    if (part !== undefined)
      return part.run((ofPart) => playPart(part.sentRun as ReceivedRun, { command, flags, ofPart }))
    const redis = redisAddress.parse(address, process.env)
    if (redis === undefined)
      throw usageError(`${address} is not the address of Redis`, 'write e.g. redis://10.0.0.5:6379')
    await runWorker({
      redis,
      threads: flags.threads ?? Math.max(1, availableParallelism() - 1),
      once: flags.once ?? false,
      check: (plan) => requireAllowed(plan, { command, flags }),
      signal: abortOnSignals(),
      onNote: (note) => void process.stderr.write(`reelay worker: ${escapeControlChars(note)}\n`),
    })
  },
})

interface WorkerWords {
  readonly command: readonly string[]
  readonly flags: WorkerFlags
}

/** Who can write to Redis can send load. The owner of this machine decides where to, and which command is started. */
function requireAllowed({ url }: RunPlan, { command, flags: { targetAllowed = [] } }: WorkerWords): void {
  if (url === undefined) {
    if (command.length > 0) return
    throw new ReelayError('TARGET_REFUSED', 'the run has no --url, and this worker has no server command', {
      hint: 'start the worker with the command at the end: reelay worker <redis-url> -- <server command…>',
    })
  }
  const host = URL.canParse(url) ? bareHost(new URL(url)) : ''
  if (isLoopback(host) || targetAllowed.includes(host)) return
  throw new ReelayError('TARGET_REFUSED', `this worker does not send load to ${host}`, {
    hint: `if it may: start it with --target-allowed ${host}`,
  })
}

/** Plays a part in this thread. */
async function playPart(
  { plan, tapes: paths, isCalibration }: ReceivedRun,
  { command, flags, ofPart }: WorkerWords & { readonly ofPart: Partial<LoadOptions> },
): ReturnType<typeof load> {
  const { url, sse, options: shared } = plan
  const tapes = await Promise.all(
    paths.map(async ({ path, weight }) => ({
      tape: await openIndexedTape(path, { side: 'server' }),
      weight,
    })),
  )
  const stderr = new FoldedStderr(false)
  try {
    const { header, maxProcesses = DEFAULT_MAX_PROCESSES } = flags
    const target = readReplayTarget(
      url === undefined ? command : [],
      {
        ...(url !== undefined && { url: new URL(url) }),
        ...(sse && { sse }),
        ...(header && url !== undefined && { header }),
      },
      (chunk) => stderr.add(chunk),
    )
    const options: LoadOptions = {
      ...shared,
      target,
      secretValues: readSecretValues(flags),
      ...(url === undefined && { maxSessions: maxProcesses }),
    }
    const { expected: _none, beforeStart: _begun, ...rest } = ofPart
    return isCalibration
      ? await load(tapes, {
          ...options,
          ...rest,
          model: 'open',
          shape: { duration: 0, points: [] },
          grace: 0,
        })
      : await load(tapes, { ...options, ...ofPart })
  } catch (error) {
    throw stderr.explained(error)
  } finally {
    for (const { tape } of tapes) tape.close()
  }
}

const DEFAULT_MAX_PROCESSES = 32
