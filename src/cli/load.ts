import { availableParallelism } from 'node:os'
import type { CommandDefinition } from './command.ts'
import { LOAD_OPTIONS, readLoadFlags, type LoadFlags } from './options/load-options.ts'
import { readSecretValues, requireAllowedTarget, splitServerCommand } from './options/live-options.ts'
import { usageError } from './options/option.ts'
import { ReportOutput } from './output/reports.ts'
import { clearProgress, showProgress, showTapeReading } from './output/progress.ts'
import { FoldedStderr, readReplayTarget } from './replay/replay-target.ts'
import { abortOnSignals } from './signals.ts'
import { HdrLog } from '../load/hdr-log.ts'
import {
  calibrateLoad,
  load,
  type LoadInterval,
  type LoadOptions,
  type LoadResult,
  type LoadTape,
} from '../load/load.ts'
import type { SharedLoadOptions } from '../load/workers/messages.ts'
import { judgeObjectives } from '../load/objectives.ts'
import { highestLevel } from '../load/shape.ts'
import { loadInThreads, threadPart } from '../load/threads.ts'
import { LoadIntervalTable, type LoadReport, loadPoint, type LoadPoint } from '../report/load.ts'
import { writeOwnFile } from '../store/file/replace-file.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape } from '../store/index/indexed-tape.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadWithWorkers, type WorkersResult } from '../load/workers/coordinator.ts'
import type { TapeToSend } from '../load/workers/sent-tapes.ts'
import { copyTapeRedacted } from '../share/share-tape.ts'
import { escapeControlChars } from '../text.ts'

export const loadCommand: CommandDefinition = {
  name: 'load',
  usage:
    '[options] <tape…> (--users <n> | --rate <n>) --for <time>\n' +
    '                   (-- <server command…> | --url <url>)\n' +
    '                   [--workers <redis-url>]',
  arguments: {
    '<tape...>': 'Tapes whose sessions the virtual users play, then -- and the command of the server',
  },
  options: LOAD_OPTIONS,
  common: 'url header users rate for shape think slo allow allowWrites json'.split(' '),
  run: async (words, given) => {
    const flags = readLoadFlags(given)
    const { words: names, command } = splitServerCommand(words)
    await runLoad(names, command, flags)
  },
}

async function runLoad(
  names: readonly string[],
  command: readonly string[],
  flags: LoadFlags,
): Promise<void> {
  if (names.length === 0) throw usageError('no tape is named', 'name a tape: reelay load <tape> --users 10 …')
  requireAllowedTarget(flags.url, {
    allowed: flags.targetAllowed,
    what: 'load is sent',
    may: 'put load on it',
  })
  showTapeReading()
  const tapes = await Promise.all(names.map((name) => openIndexedTape(resolveTape(name), { side: 'server' })))
  const stderr = new FoldedStderr(false)
  try {
    if (flags.workers !== undefined) return await runOnWorkers(names, tapes, { command, flags })
    const target = readReplayTarget(command, flags, (chunk) => stderr.add(chunk))
    const secretValues = readSecretValues(flags)
    const threads = flags.threads ?? usefulThreads(flags)
    const maxProcesses = Math.max(1, Math.floor((flags.maxProcesses ?? DEFAULT_MAX_PROCESSES) / threads))
    const { secrets: _file, ...values } = flags
    const options: LoadOptions = {
      ...values,
      target,
      secretValues,
      ...(command.length > 0 && { maxSessions: maxProcesses }),
    }
    const mix = mixOf(names, tapes, flags)
    const part = threadPart()
    if (part !== undefined) return await part.run((ofPart) => load(mix, { ...options, ...ofPart }))
    await runAndReport(mix, options, { flags, threads, paths: tapes.map(({ path }) => path) })
  } catch (error) {
    throw stderr.explained(error)
  } finally {
    for (const tape of tapes) tape.close()
  }
}

/** The tapes with their weights. */
function mixOf(
  names: readonly string[],
  tapes: readonly LoadTape['tape'][],
  { weight = [] }: LoadFlags,
): readonly LoadTape[] {
  const weights = new Map(weight)
  for (const name of weights.keys())
    if (!names.includes(name))
      throw usageError(
        `--weight names ${name}, which is not one of the tapes`,
        `the tapes are ${names.join(', ')}`,
      )
  return tapes.map((tape, place) => ({ tape, weight: weights.get(names[place] ?? '') ?? 1 }))
}

interface ReportedRun {
  readonly flags: LoadFlags
  readonly threads: number
  readonly paths: readonly string[]
  readonly target: string
}

/** Sends the tapes to other machines, which play them. A tape with secrets is sent as a redacted copy. */
async function runOnWorkers(
  names: readonly string[],
  tapes: readonly LoadTape['tape'][],
  { command, flags }: { readonly command: readonly string[]; readonly flags: LoadFlags },
): Promise<void> {
  const { workers, url, sse, expectWorkers } = flags
  if (workers === undefined) return
  if (command.length > 0)
    throw usageError(
      'a server command cannot be sent to workers',
      'give it to each worker: reelay worker <redis-url> -- <server command…>',
    )
  const folder = mkdtempSync(join(tmpdir(), 'reelay-load-'))
  try {
    const mix = mixOf(names, tapes, flags)
    const sent: TapeToSend[] = []
    for (const [place, { tape, weight = 1 }] of mix.entries()) {
      const isRedacted = tape.header.redaction !== undefined
      const path = isRedacted
        ? tape.path
        : (await copyTapeRedacted({ from: tape.path, to: join(folder, `${place}.tape.jsonl`) })).path
      sent.push({ name: names[place] ?? '', path, original: tape.path, weight })
    }
    await reportRun(
      ({ signal, onInterval }) =>
        loadWithWorkers({
          redis: workers,
          tapes: sent,
          ...(expectWorkers !== undefined && { expectWorkers }),
          ...(url && { url: url.href }),
          ...(sse && { sse }),
          options: sharedOptions(flags),
          signal,
          onInterval,
          onNote: (note) => {
            clearProgress()
            process.stderr.write(`reelay load: ${escapeControlChars(note)}\n`)
          },
        }),
      {
        flags,
        threads: 1,
        paths: tapes.map(({ path }) => path),
        target: url?.href ?? 'the server command of each worker',
      },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The options that workers share. They travel through Redis, so there is no secret among them. */
function sharedOptions(flags: LoadFlags): SharedLoadOptions {
  const { model, shape, thinkFactor, arrivals, seed, grace, calibrate } = flags
  const { server, timeout, startTimeout, allow, allowWrites } = flags
  return {
    model,
    shape,
    thinkFactor,
    ...(arrivals && { arrivals }),
    ...(seed !== undefined && { seed }),
    ...(grace !== undefined && { grace }),
    ...(calibrate !== undefined && { calibrate }),
    ...(server !== undefined && { server }),
    ...(timeout !== undefined && { timeout }),
    ...(startTimeout !== undefined && { startTimeout }),
    ...(allow && { allow }),
    ...(allowWrites && { allowWrites }),
  }
}

async function runAndReport(
  mix: readonly LoadTape[],
  options: LoadOptions,
  { flags, threads, paths }: Omit<ReportedRun, 'target'>,
): Promise<void> {
  const play = async ({ signal, onInterval }: RunWatch): Promise<LoadResult> =>
    threads === 1
      ? load(mix, { ...options, signal, onInterval })
      : loadInThreads({
          threads,
          expected: flags.calibrate === 0 ? new Map() : await calibrateLoad(mix, { ...options, signal }),
          signal,
          onInterval,
        })
  await reportRun(play, { flags, threads, paths, target: options.target.name })
}

interface RunWatch {
  readonly signal: AbortSignal
  readonly onInterval: (interval: LoadInterval) => void
}

/** Plays a run, writes its reports and sets the exit code. */
async function reportRun(
  play: (watch: RunWatch) => Promise<LoadResult & Partial<Pick<WorkersResult, 'workers'>>>,
  { flags, threads, paths, target }: ReportedRun,
): Promise<void> {
  const output = new ReportOutput('load', flags)
  const { shape, model } = flags
  const signal = abortOnSignals()
  const started = new Date()
  const [table, log] = [new LoadIntervalTable(), new HdrLog(started)]
  const points: LoadPoint[] = []
  let ended = 0
  const onInterval = (interval: LoadInterval): void => {
    table.add(interval)
    log.add(interval, interval.at - ended)
    points.push(loadPoint(interval, interval.at - ended))
    ended = interval.at
    showProgress(progressLine(interval, shape.duration))
  }
  const { workers, ...result } = await play({ signal, onInterval })
  clearProgress()
  const report = {
    tapes: paths,
    target,
    model,
    level: `${highestLevel(shape)} ${model === 'open' ? 'sessions/s' : highestLevel(shape) === 1 ? 'user' : 'users'}`,
    threads,
    started: started.toISOString(),
    ...(workers && { workers }),
    result,
    points,
    objectives: judgeObjectives(flags.slo ?? [], result.totals, result.duration / 1000),
  }
  if (flags.csv !== undefined) await writeOwnFile(flags.csv, [table.asCsv()])
  if (flags.hdr !== undefined) await writeOwnFile(flags.hdr, [log.text()])
  await output.write(report, { command: 'load' })
  process.exitCode = signal.aborted ? 130 : exitCodeOf(report)
}

/** One core is left for the server. */
function usefulThreads({ shape }: LoadFlags): number {
  return Math.max(1, Math.min(availableParallelism() - 1, Math.ceil(highestLevel(shape) / LEVEL_PER_THREAD)))
}

const LEVEL_PER_THREAD = 100

const DEFAULT_MAX_PROCESSES = 32

function progressLine({ at, level, open, totals }: LoadInterval, duration: number): string {
  const all = totals.all()
  const left = Math.max(0, Math.ceil((duration - at) / 1000))
  return [
    `${Math.round(at / 1000)} s`,
    `level ${Math.round(level * 10) / 10}`,
    `${open} open`,
    `${all.calls} calls/s`,
    `p99 ${all.response.percentile(0.99).toFixed(0)} ms`,
    `${all.failed} failed`,
    `${left} s left`,
  ].join(' · ')
}

function exitCodeOf({ result, objectives, workers }: LoadReport): number {
  if (workers !== undefined && workers.missing.length > 0) return 3
  const { calls } = result.totals.all()
  if (calls === 0 || result.totals.sessionsDone + result.totals.sessionsCut === 0) return 3
  return objectives.some(({ isMet }) => !isMet) ? 1 : 0
}
