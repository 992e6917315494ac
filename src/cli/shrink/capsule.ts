import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  inGroup,
  option,
  readOptions,
  usageError,
  type OptionRows,
  type OptionTable,
} from '../options/option.ts'
import { countValue, fileValue, textValue } from '../options/option-types.ts'
import { REPLAY_OPTIONS } from '../options/replay-options.ts'
import { overwriteOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { FoldedStderr } from '../replay/replay-target.ts'
import { abortOnSignals } from '../signals.ts'
import type { CommandDefinition } from '../command.ts'
import { errorMessage } from '../../errors.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { bareHost, isLoopback } from '../../http/hosts.ts'
import { type Capsule, readCapsule } from '../../shrink/capsule.ts'
import { runCapsule } from '../../shrink/run-capsule.ts'
import { loadTape } from '../../store/file/read.ts'
import { writeOwnFile } from '../../store/file/replace-file.ts'
import { requireNewTape } from '../../store/file/write.ts'
import { TAPE_EXTENSION } from '../../store/home.ts'
import { escapeControlChars, quoteShellWord } from '../../text.ts'
import { createProbe, otherHeaderOption, readLiveFlags, SHARED_LIVE_OPTIONS } from './shrink.ts'

interface CapsuleRunFlags {
  readonly fails?: string
  readonly runs?: number
  readonly otherHeader?: readonly AddedHeader[]
}

const CAPSULE_ARGUMENT = { '<capsule>': 'A .capsule.html or .capsule.md file of reelay shrink' }

const CAPSULE_RUN_OPTIONS: OptionTable<CapsuleRunFlags> & OptionRows = {
  ...inGroup('Failure', {
    fails: option('--fails <condition>', textValue, 'Use this condition instead of that of the capsule'),
    runs: option('--runs <n>', countValue(1000), 'Run the session this many times, until it fails', {
      default: '3',
    }),
  }),
  otherHeader: otherHeaderOption,
}

const runCommand: CommandDefinition = {
  name: 'run',
  help: 'Check whether a server still fails (exit code 1 if it does)',
  usage:
    '[options] <capsule> -- <server command…>\n       reelay capsule run [options] <capsule> --url <url>',
  arguments: { ...CAPSULE_ARGUMENT, '[command...]': 'Command that starts the live server, after --' },
  options: {
    ...CAPSULE_RUN_OPTIONS,
    ...SHARED_LIVE_OPTIONS,
    verbose: { ...REPLAY_OPTIONS.verbose, help: 'Show the stderr of the server', group: 'Output' },
  },
  common: 'fails runs url allow allowWrites beforeRun timeout'.split(' '),
  run: async ([path = '', ...command], given) => {
    const flags = readOptions<CapsuleRunFlags>(CAPSULE_RUN_OPTIONS, given, { command: 'capsule run' })
    const live = readLiveFlags('capsule run', given)
    const capsule = openCapsule(path)
    const { facts } = capsule
    const fails = flags.fails ?? facts.fails
    if (flags.fails === undefined && fails.startsWith('command:'))
      throw usageError(
        'this capsule runs a test command, and a command of somebody else is never run by itself',
        `read it, and then give it yourself: --fails ${quoteShellWord(fails)}`,
      )
    const signal = abortOnSignals()
    const stderr = new FoldedStderr(live.verbose === true)
    await withTape(capsule, async (file) => {
      const tape = await loadTape(file, 'server')
      const { otherHeader, runs = DEFAULT_RUNS } = flags
      const { header } = tape
      const probe = createProbe({ fails, command, live, otherHeader, signal, stderr, header })
      const isRemote = live.url !== undefined && !isLoopback(bareHost(live.url))
      const outcome = await runCapsule({ tape, facts, probe, runs, signal, isRemote })
      print(createOutputRedactor()(outcomeText(facts.call, outcome)))
      process.exitCode = signal.aborted
        ? 130
        : outcome.kind === 'fails'
          ? 1
          : outcome.kind === 'passes'
            ? 0
            : 3
    })
  },
}

const DEFAULT_RUNS = 3

function outcomeText(call: string, outcome: Awaited<ReturnType<typeof runCapsule>>): string {
  const name = escapeControlChars(call)
  switch (outcome.kind) {
    case 'fails':
      return `${name} still fails (run ${outcome.run}): ${escapeControlChars(outcome.summary)}\n`
    case 'passes':
      return `${name} does not fail any more (${outcome.runs} ${outcome.runs === 1 ? 'run' : 'runs'})\n`
    case 'unknown':
      return `${name} could not be checked: ${escapeControlChars(outcome.why)}\n  hint: ${escapeControlChars(outcome.hint)}\n`
  }
}

function openCapsule(path: string): Capsule {
  try {
    return readCapsule(readFileSync(path, 'utf8'), path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'syscall' in error)
      throw usageError(`${path} cannot be read: ${errorMessage(error)}`, 'give the path of a capsule')
    throw error
  }
}

async function withTape(capsule: Capsule, use: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-capsule-'))
  try {
    const file = join(folder, `capsule${TAPE_EXTENSION}`)
    writeFileSync(file, capsule.tape, { mode: 0o600 })
    await use(file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface ExtractFlags {
  readonly output?: string
  readonly overwrite?: true
}

const EXTRACT_OPTIONS: OptionTable<ExtractFlags> & OptionRows = {
  output: option('-o, --output', fileValue, 'Write the tape to this file (required)'),
  overwrite: overwriteOption,
}

const extractCommand: CommandDefinition = {
  name: 'extract',
  help: 'Take the tape out of a capsule',
  usage: '[options] <capsule> -o <file>',
  arguments: CAPSULE_ARGUMENT,
  options: EXTRACT_OPTIONS,
  run: async ([path = ''], given) => {
    const { output, overwrite } = readOptions<ExtractFlags>(EXTRACT_OPTIONS, given, {
      command: 'capsule extract',
    })
    if (output === undefined)
      throw usageError(
        '--output is required',
        'for example: reelay capsule extract bug.capsule.html -o bug.tape.jsonl',
      )
    const { tape } = openCapsule(path)
    requireNewTape(output, overwrite)
    await writeOwnFile(output, [tape])
    print(`wrote ${escapeControlChars(output)}\n`)
  },
}

const showCommand: CommandDefinition = {
  name: 'show',
  help: 'Show what a capsule contains, without running anything',
  usage: '<capsule>',
  arguments: CAPSULE_ARGUMENT,
  options: {},
  run: ([path = '']) => {
    const { facts } = openCapsule(path)
    const lines = [
      `${facts.call} fails: ${facts.summary}`,
      ...facts.story.map((line, at) => `  ${at + 1}. ${line}`),
      `condition: ${facts.fails}`,
      ...(facts.writes.length === 0 ? [] : [`may write: ${facts.writes.join(', ')}`]),
      `server: ${facts.server}`,
      facts.proof,
    ]
    print(lines.map((line) => `${escapeControlChars(line)}\n`).join(''))
  },
}

export const capsuleCommand: CommandDefinition = {
  name: 'capsule',
  options: {},
  commands: [runCommand, showCommand, extractCommand],
}
