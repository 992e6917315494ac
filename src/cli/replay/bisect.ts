import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { ReelayError } from '../../errors.ts'
import { signalGroup } from '../../link/process/process-family.ts'
import { resolveTape } from '../../store/home.ts'
import { escapeControlChars } from '../../text.ts'
import type { CommandDefinition } from '../command.ts'
import {
  formatOptions,
  inGroup,
  option,
  readOptions,
  usageError,
  type GivenOptions,
  type OptionRows,
  type OptionTable,
} from '../options/option.ts'
import { switchOn, textValue } from '../options/option-types.ts'
import { VERIFY_OPTIONS } from '../options/replay-options.ts'
import { print } from '../output/print.ts'
import { clearProgress, showProgress } from '../output/progress.ts'
import { reelayCommand } from '../reelay-command.ts'
import { abortOnSignals } from '../signals.ts'

interface BisectFlags {
  readonly setup?: string
  readonly verbose?: true
}

const BISECT_ONLY_OPTIONS: OptionTable<BisectFlags> & OptionRows = {
  ...inGroup('Revisions', {
    setup: option(
      '--setup <command>',
      textValue,
      "Run this shell command in each revision before it is tried, e.g. 'npm ci'; a revision in which it fails is skipped",
    ),
  }),
  ...inGroup('Output', {
    verbose: option('-v, --verbose', switchOn, 'Show the output of every revision'),
  }),
}

/** The options of `verify` that are passed on. */
const PASSED_ON = [
  'timeout',
  'startTimeout',
  'server',
  'include',
  'exclude',
  'ignore',
  'useNoiseProfile',
  'allow',
  'allowWrites',
  'beforeRun',
  'repeat',
  'strict',
  'secret',
] as const

export const bisectCommand: CommandDefinition = {
  name: 'bisect',
  usage: '[options] <tape> <good> <bad> -- <server command…>',
  arguments: {
    '<tape>': 'Tape name, or path of a tape file',
    '<good>': 'A revision of this repository that responds as recorded, such as v1.2',
    '<bad>': 'A later revision that does not, such as HEAD',
    '[command...]': 'Command that starts the server, after --, run in a copy of each revision',
  },
  options: {
    ...BISECT_ONLY_OPTIONS,
    ...Object.fromEntries(PASSED_ON.map((name) => [name, VERIFY_OPTIONS[name]])),
  },
  common: ['setup', 'allow', 'allowWrites', 'ignore', 'timeout', 'verbose'],
  run: ([tape = '', good = '', bad = '', ...command], given) => {
    const flags = readOptions<BisectFlags>(BISECT_ONLY_OPTIONS, given, { command: 'bisect' })
    if (command.length === 0)
      throw usageError('no server command is given', 'put it at the end, after --, as in: -- node server.js')
    return bisect({ tape: resolve(resolveTape(tape)), good, bad, command, flags, given })
  },
}

interface BisectRun {
  readonly tape: string
  readonly good: string
  readonly bad: string
  readonly command: readonly string[]
  readonly flags: BisectFlags
  readonly given: GivenOptions
}

type Judgement = 'good' | 'bad' | 'skip'

/** Runs `git bisect` with `verify` as the judge, in a work tree of its own: the files of the user are not touched. */
async function bisect(run: BisectRun): Promise<void> {
  const top = git(process.cwd(), 'rev-parse', '--show-toplevel')
  // In the work tree, a name such as HEAD means another commit.
  const [good, bad] = [commitOf(run.good), commitOf(run.bad)]
  const signal = abortOnSignals()
  const folder = mkdtempSync(join(tmpdir(), 'reelay-bisect-'))
  const tree = join(folder, 'tree')
  try {
    git(top, 'worktree', 'add', '--quiet', '--detach', tree, bad)
    const cwd = join(tree, relative(top, process.cwd()))
    await requireEnds(run, { good, bad, cwd, tree, signal })
    let answer = git(tree, 'bisect', 'start', bad, good)
    while (!signal.aborted && !isOver(answer)) {
      const judgement = await judgeRevision(run, cwd, signal)
      if (signal.aborted) break
      clearProgress()
      print(`${judgement.padEnd(4)} ${escapeControlChars(git(tree, 'log', '-1', '--format=%h %s'))}\n`)
      answer = git(tree, 'bisect', judgement)
    }
    clearProgress()
    report(answer, tree, signal)
  } finally {
    spawnSync('git', ['worktree', 'remove', '--force', tree], { cwd: top, stdio: 'ignore' })
    rmSync(folder, { recursive: true, force: true })
  }
}

const FIRST_BAD = /^([\da-f]{40,64}) is the first bad commit$/m

function isOver(answer: string): boolean {
  return FIRST_BAD.test(answer) || answer.includes("only 'skip'ped commits left")
}

function report(answer: string, tree: string, signal: AbortSignal): void {
  if (signal.aborted) return void (process.exitCode = 130)
  const commit = FIRST_BAD.exec(answer)?.[1]
  if (commit === undefined) {
    print(
      `the first bad revision is among those that could not be tried:\n${escapeControlChars(skipped(answer))}\n`,
    )
    process.exitCode = 1
    return
  }
  print(
    `\nthe first bad revision is ${escapeControlChars(git(tree, 'log', '-1', '--format=%h, by %an on %as: %s', commit))}\n`,
  )
}

function skipped(answer: string): string {
  return answer
    .split('\n')
    .filter((line) => /^[\da-f]{40,64}$/.test(line))
    .map((hash) => `  ${hash.slice(0, 12)}`)
    .join('\n')
}

/** A search between two revisions that are not good and bad would find a wrong one. */
async function requireEnds(
  run: BisectRun,
  {
    good,
    bad,
    cwd,
    tree,
    signal,
  }: {
    readonly good: string
    readonly bad: string
    readonly cwd: string
    readonly tree: string
    readonly signal: AbortSignal
  },
): Promise<void> {
  for (const [revision, commit, wanted] of [
    [run.bad, bad, 'bad'],
    [run.good, good, 'good'],
  ] as const) {
    git(tree, 'checkout', '--quiet', '--detach', commit)
    const judgement = await judgeRevision(run, cwd, signal)
    if (signal.aborted || judgement === wanted) continue
    throw new ReelayError('NOT_REPRODUCED', `${revision} is ${WORDS[judgement]}`, {
      hint:
        judgement === 'skip'
          ? "the server must run in a fresh copy of the repository: prepare it with --setup, such as --setup 'npm ci'; -v shows why it failed"
          : `reelay verify must ${wanted === 'bad' ? 'find differences in' : 'pass for'} ${revision}; -v shows what it found`,
    })
  }
}

const WORDS: Readonly<Record<Judgement, string>> = {
  good: 'not bad: its responses are as recorded',
  bad: 'not good: its responses differ from the tape',
  skip: 'not usable: it could not be tried',
}

async function judgeRevision(
  { tape, command, flags, given }: BisectRun,
  cwd: string,
  signal: AbortSignal,
): Promise<Judgement> {
  showProgress(`trying ${git(cwd, 'rev-parse', '--short', 'HEAD')}`)
  const output = flags.verbose === true ? 'inherit' : 'ignore'
  if (
    flags.setup !== undefined &&
    (await exitCodeOf([flags.setup], { cwd, output, shell: true, signal })) !== 0
  )
    return 'skip'
  const options = formatOptions(VERIFY_OPTIONS, given, PASSED_ON)
  const words = [...reelayCommand(), 'verify', tape, ...options, '--no-config', '--', ...command]
  const code = await exitCodeOf(words, { cwd, output, shell: false, signal })
  return code === 0 ? 'good' : code === 1 ? 'bad' : 'skip'
}

async function exitCodeOf(
  [file = '', ...args]: readonly string[],
  options: {
    readonly cwd: string
    readonly output: 'inherit' | 'ignore'
    readonly shell: boolean
    readonly signal: AbortSignal
  },
): Promise<number | undefined> {
  const { cwd, output, shell, signal } = options
  const env = { ...process.env, GIT_DIR: undefined, GIT_WORK_TREE: undefined }
  const child = spawn(file, args, {
    cwd,
    env,
    shell,
    stdio: ['ignore', output, output],
    detached: process.platform !== 'win32',
  })
  const end = (): void => void (child.pid !== undefined && signalGroup(child.pid, 'SIGTERM'))
  signal.addEventListener('abort', end, { once: true })
  const [code]: unknown[] = await once(child, 'close')
  signal.removeEventListener('abort', end)
  return typeof code === 'number' ? code : undefined
}

function commitOf(revision: string): string {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]
  const { status, stdout } = spawnSync('git', words, { encoding: 'utf8' })
  if (status === 0) return stdout.trim()
  throw usageError(
    `${JSON.stringify(revision)} is not a revision of this repository`,
    'give a tag, a branch or a commit: reelay bisect <tape> <good> <bad> -- <server command>',
  )
}

function git(cwd: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync('git', args, { cwd, encoding: 'utf8' })
  if (error === undefined && status === 0) return stdout.trimEnd()
  // `git bisect` has its own exit codes for the end of the search.
  if (args[0] === 'bisect' && isOver(stdout)) return stdout
  throw new ReelayError(
    'USAGE',
    `git ${args[0]} failed: ${error?.message ?? (stderr.trim() || stdout.trim())}`,
    {
      hint: 'reelay bisect needs git, and a folder in a git repository',
    },
  )
}
