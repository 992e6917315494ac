import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { diffTapes, type TapeDiff, type TapeDiffOptions } from '../../compare/diff-tapes.ts'
import type { LatencyLimits } from '../../compare/latency.ts'
import { renderReport } from '../../report/registry.ts'
import { resolveTape, TAPE_EXTENSION } from '../../store/home.ts'
import { openTape } from '../../store/file/read.ts'
import { escapeControlChars, parseDuration } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option, usageError, type OptionTable, type ValueType } from '../options/option.ts'
import { choiceOf, fileValue, switchOff, switchOn } from '../options/option-types.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print, printChunks } from '../output/print.ts'
import { showTapeReading } from '../output/progress.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { ReportOutput, reportOptions, type ReportFlags } from '../output/reports.ts'

interface DiffFlags extends ReportFlags {
  readonly failOn?: FailOn
  readonly latency?: true
  readonly latencyLimits?: LatencyLimits
  readonly noiseProfile?: string
  readonly useNoiseProfile?: boolean
  readonly json?: true
  readonly quiet?: true
}

type FailOn = 'breaking' | 'any' | 'never'

const latencyLimits: ValueType<LatencyLimits> = {
  kind: 'value',
  name: 'limits',
  placeholder: 'limits',
  expected: 'a ratio and a duration, e.g. 1.5x,20ms',
  parse: (given) => {
    const [, ratio, duration] = /^(\d+(?:\.\d+)?)x,(.+)$/.exec(given) ?? []
    const absolute = parseDuration(duration)
    return ratio === undefined || absolute === undefined || Number(ratio) < 1
      ? undefined
      : { ratio: Number(ratio), absolute }
  },
}

const DIFF_OPTIONS: OptionTable<DiffFlags> = {
  failOn: option(
    '--fail-on',
    choiceOf('breaking', 'any', 'never'),
    'Exit with code 1 on breaking changes and changes of security, on any difference, or never',
    { default: 'breaking' },
  ),
  latency: option('--latency', switchOn, 'Compare the times of calls too'),
  latencyLimits: option(
    '--latency-limits',
    latencyLimits,
    'A call is slower if its median grew by this ratio and by this duration',
    { default: '1.5x,20ms', needs: { latency: true } },
  ),
  noiseProfile: option(
    '--noise-profile',
    fileValue,
    'Read the noise profile from this file instead of the one next to the earlier tape',
  ),
  useNoiseProfile: option(
    '--no-noise-profile',
    switchOff,
    'Ignore the noise profile next to the earlier tape',
    {
      conflicts: ['noiseProfile'],
    },
  ),
  ...reportOptions('diff'),
  json: jsonOption,
  quiet: option('-q, --quiet', switchOn, 'Print nothing; the exit code tells the result', {
    conflicts: ['json'],
  }),
}

export const diffCommand: CommandDefinition = defineCommand<DiffFlags & { gitDriver?: true }>({
  name: 'diff',
  usage: '[options] <before> <after>',
  arguments: {
    '<before>': 'Earlier tape',
    '[after]': 'Later tape',
    '[git...]': 'More arguments, which git passes to --git-driver',
  },
  options: {
    ...DIFF_OPTIONS,
    gitDriver: option(
      '--git-driver',
      switchOn,
      'Read the arguments that git passes to an external diff program, and exit with code 0',
      { conflicts: ['json', 'quiet', 'failOn', 'report'] },
    ),
  },
  run: async ([before = '', after = '', ...rest], flags) => {
    if (flags.gitDriver) return runGitDriver([before, after, ...rest], flags)
    if (after === '' || rest.length > 0)
      throw usageError(
        'diff compares two tapes',
        'write reelay diff <before> <after>; diff-batch compares more',
      )
    const output = new ReportOutput('diff', flags)
    showTapeReading()
    const diff = await diffTapes(tapeAt(before), tapeAt(after), diffOptions(flags))
    await output.write(diff, { command: 'diff' })
    process.exitCode = exitCodeOf(diff, flags.failOn)
  },
})

function diffOptions(flags: DiffFlags): TapeDiffOptions {
  const { latencyLimits: limits = { ratio: 1.5, absolute: 20 }, noiseProfile, useNoiseProfile } = flags
  const noise = useNoiseProfile === false ? false : noiseProfile
  return { ...(flags.latency && { latency: limits }), ...(noise !== undefined && { noise }) }
}

function tapeAt(name: string): string {
  if (isFolder(name))
    throw usageError(`${name} is a folder`, 'compare the tapes of two folders with reelay diff-batch')
  return resolveTape(name)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function exitCodeOf(diff: TapeDiff, failOn: FailOn = 'breaking'): number {
  if (failOn === 'never') return 0
  return (failOn === 'any' ? hasChanges(diff) : diff.summary.breaking > 0) ? 1 : 0
}

function hasChanges({ summary, surface, latency = [] }: TapeDiff): boolean {
  const { modified, added, removed } = summary
  const isSlower = latency.some(({ verdict }) => verdict === 'slower')
  return modified + added + removed + surface.length > 0 || isSlower
}

/**
 * git calls the driver with `path old-file old-hex old-mode new-file new-hex new-mode`, and for an unmerged path with the path alone. The
 * file of a side that does not exist is the null device. Git takes any exit code but 0 as a failure of the driver.
 */
async function runGitDriver(words: readonly string[], flags: DiffFlags): Promise<void> {
  const [path = '', oldFile = '', , , newFile] = words.filter((word) => word !== '')
  const redact = createOutputRedactor()
  if (newFile === undefined) return print(redact(`unmerged ${escapeControlChars(path)}\n`))
  print(redact(`diff of tape ${escapeControlChars(path)}\n`))
  const [isNew, isGone] = [oldFile, newFile].map((file) => /^(?:\/dev\/null|nul)$/i.test(file))
  if (isNew || isGone) {
    const tape = await openTape(isNew ? newFile : oldFile)
    let messages = 0
    for await (const frame of tape.frames()) if (frame.kind === 'message') messages++
    return print(
      redact(`${isNew ? 'new' : 'deleted'} tape, ${messages} messages, recorded ${tape.header.started}\n`),
    )
  }
  const diff = await diffTapes(oldFile, newFile, { ...diffOptions(flags), noise: false })
  const named = {
    ...diff,
    before: { ...diff.before, path: `a/${path}` },
    after: { ...diff.after, path: `b/${path}` },
  }
  await printChunks(await renderReport('diff', 'text', named), redact)
}

export const diffBatchCommand: CommandDefinition = defineCommand<DiffFlags>({
  name: 'diff-batch',
  usage:
    '[options] <folder> <folder>\n       reelay diff-batch [options] <before> <after> [<before> <after>…]',
  arguments: { '<paths...>': 'Two folders with tapes of the same names, or pairs of tapes' },
  options: DIFF_OPTIONS,
  run: async (paths, flags) => {
    const output = new ReportOutput('diffs', flags)
    const pairs = pairsOf(paths)
    const diffs: TapeDiff[] = []
    for (const [before, after] of pairs.both) diffs.push(await diffTapes(before, after, diffOptions(flags)))
    const report = { diffs, missing: pairs.missing, added: pairs.added }
    await output.write(report, { command: 'diff-batch' })
    const isMissing = flags.failOn !== 'never' && pairs.missing.length > 0
    const isAdded = flags.failOn === 'any' && pairs.added.length > 0
    process.exitCode = Math.max(
      Number(isMissing || isAdded),
      ...diffs.map((diff) => exitCodeOf(diff, flags.failOn)),
    )
  },
})

interface TapePairs {
  readonly both: readonly (readonly [string, string])[]
  /** Tapes of the earlier folder alone, and of the later one. */
  readonly missing: readonly string[]
  readonly added: readonly string[]
}

function pairsOf(paths: readonly string[]): TapePairs {
  const [before = '', after = ''] = paths
  if (paths.length === 2 && isFolder(before) && isFolder(after)) return pairsInFolders(before, after)
  const folder = paths.find(isFolder)
  const file = paths.find((path) => !isFolder(path))
  if (folder !== undefined && file !== undefined)
    throw usageError(
      `${folder} is a folder, and ${file} is not`,
      'give two folders, or an even number of tapes',
    )
  if (paths.length % 2 !== 0 || paths.length === 0)
    throw usageError(
      'diff-batch needs two folders, or an even number of tapes',
      'see reelay diff-batch --help',
    )
  const tapes = paths.map(tapeAt)
  const both = tapes.flatMap((tape, at) => {
    const other = tapes[at + 1]
    return at % 2 === 0 && other !== undefined ? [[tape, other] as const] : []
  })
  return { both, missing: [], added: [] }
}

function pairsInFolders(before: string, after: string): TapePairs {
  const [ours, theirs] = [tapesIn(before), tapesIn(after)]
  if (ours.length + theirs.length === 0)
    throw usageError(`there are no tapes in ${before} and ${after}`, 'tapes end in .tape.jsonl')
  return {
    both: ours.filter((name) => theirs.includes(name)).map((name) => [join(before, name), join(after, name)]),
    missing: ours.filter((name) => !theirs.includes(name)),
    added: theirs.filter((name) => !ours.includes(name)),
  }
}

function tapesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(TAPE_EXTENSION))
    .toSorted()
}
