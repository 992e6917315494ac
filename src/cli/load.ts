import type { CommandDefinition } from './command.ts'
import { LOAD_OPTIONS, readLoadFlags, type LoadFlags } from './options/load-options.ts'
import { readSecretValues } from './options/live-options.ts'
import { usageError } from './options/option.ts'
import { createOutputRedactor } from './output/redact-output.ts'
import { print } from './output/print.ts'
import { clearProgress, showProgress, showTapeReading } from './output/progress.ts'
import { FoldedStderr, readReplayTarget } from './replay/replay-target.ts'
import { abortOnSignals } from './signals.ts'
import { bareHost, isLoopback } from '../http/hosts.ts'
import { load, type LoadInterval, type LoadTape } from '../load/load.ts'
import { judgeObjectives } from '../load/objectives.ts'
import { highestLevel } from '../load/shape.ts'
import { liveSecrets } from '../replay/session/live-secrets.ts'
import { LoadIntervalTable, loadAsJson, loadAsText } from '../report/load.ts'
import { writeOwnFile } from '../store/file/replace-file.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape } from '../store/index/indexed-tape.ts'

export const loadCommand: CommandDefinition = {
  name: 'load',
  usage:
    '[options] <tape…> (--users <n> | --rate <n>) --for <time> -- <server command…>\n' +
    '       reelay load [options] <tape…> (--users <n> | --rate <n>) --for <time> --url <url>',
  arguments: {
    '<tape...>': 'Tapes whose sessions the virtual users play, then -- and the command of the server',
  },
  options: LOAD_OPTIONS,
  common: 'url header users rate for shape think slo allow allowWrites json'.split(' '),
  run: async (words, given) => {
    const flags = readLoadFlags(given)
    const { names, command } = splitWords(words, process.argv)
    await runLoad(names, command, flags)
  },
}

/** Splits tapes from the server command. The parser drops the `--` between them. */
function splitWords(
  words: readonly string[],
  argv: readonly string[],
): { readonly names: readonly string[]; readonly command: readonly string[] } {
  const at = argv.indexOf('--')
  const count = at < 0 ? 0 : argv.length - at - 1
  return { names: words.slice(0, words.length - count), command: words.slice(words.length - count) }
}

async function runLoad(
  names: readonly string[],
  command: readonly string[],
  flags: LoadFlags,
): Promise<void> {
  const { shape, model } = flags
  if (names.length === 0) throw usageError('no tape is named', 'name a tape: reelay load <tape> --users 10 …')
  requireAllowedTarget(flags)
  showTapeReading()
  const signal = abortOnSignals()
  const tapes = await Promise.all(names.map((name) => openIndexedTape(resolveTape(name))))
  try {
    const weights = new Map(flags.weight)
    const mix = names.map((name, place): LoadTape => ({
      tape: tapes[place]!,
      weight: weights.get(name) ?? 1,
    }))
    for (const name of weights.keys())
      if (!names.includes(name))
        throw usageError(
          `--weight names ${name}, which is not one of the tapes`,
          `the tapes are ${names.join(', ')}`,
        )
    const stderr = new FoldedStderr(false)
    const target = readReplayTarget(command, flags, (chunk) => stderr.add(chunk))
    const first = tapes[0]
    const secrets = first && liveSecrets(first.header, { values: readSecretValues(flags) })
    const intervals = new LoadIntervalTable()
    const started = new Date().toISOString()
    const { secrets: _file, ...options } = flags
    const result = await load(mix, {
      ...options,
      target,
      signal,
      ...(secrets && { secrets }),
      ...(command.length > 0 && { maxSessions: flags.maxProcesses ?? DEFAULT_MAX_PROCESSES }),
      onInterval: (interval) => {
        intervals.add(interval)
        showProgress(progressLine(interval, shape.duration))
      },
    }).catch((error: unknown) => {
      stderr.showEnd()
      throw error
    })
    clearProgress()
    const objectives = judgeObjectives(flags.slo ?? [], result.totals, result.duration / 1000)
    const unit = model === 'open' ? 'sessions/s' : 'users'
    const report = {
      tapes: tapes.map(({ path }) => path),
      target: target.name,
      model,
      level: `${highestLevel(shape)} ${unit}`,
      started,
      result,
      objectives,
    }
    const redact = createOutputRedactor()
    if (flags.csv !== undefined) await writeOwnFile(flags.csv, [intervals.asCsv()])
    print(redact(flags.json ? loadAsJson(report) : loadAsText(report)))
    process.exitCode = signal.aborted ? 130 : exitCodeOf(report)
  } finally {
    for (const tape of tapes) tape.close()
  }
}

const DEFAULT_MAX_PROCESSES = 32

/** Load goes to this machine, unless the user names the host. */
function requireAllowedTarget({ url, targetAllowed = [] }: LoadFlags): void {
  if (url === undefined || isLoopback(bareHost(url)) || targetAllowed.includes(bareHost(url))) return
  throw usageError(
    `load is sent to this machine only, and ${bareHost(url)} is another one`,
    `if you may put load on it: --target-allowed ${bareHost(url)}`,
  )
}

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

function exitCodeOf({ result, objectives }: Parameters<typeof loadAsText>[0]): number {
  const { calls } = result.totals.all()
  if (calls === 0 || result.totals.sessionsDone + result.totals.sessionsCut === 0) return 3
  return objectives.some(({ isMet }) => !isMet) ? 1 : 0
}
