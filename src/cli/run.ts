import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { defineCommand, type CommandDefinition } from './command.ts'
import { announceConfig } from './options/config-options.ts'
import { option, usageError } from './options/option.ts'
import { choiceOf, textValue } from './options/option-types.ts'
import {
  LABEL_OPTIONS,
  overwriteOption,
  serverFilter,
  vaultOption,
  type LabelFlags,
} from './options/shared-options.ts'
import { warnAboutVault } from './record/record-output.ts'
import { reelayCommand } from './reelay-command.ts'
import { exitLike } from './signals.ts'
import { ReelayError } from '../errors.ts'
import { isObject, parseJson } from '../json/parse.ts'
import { runWithInheritedStdio } from '../link/process/run-inherited.ts'
import { REPORT_VARIABLE, type LiveConnection, type ReplayedSession } from '../serve/drift.ts'
import { labelsToEnv } from '../record/tape-header.ts'
import { lastTapeNumber, removeTapes, requireNewTape } from '../store/file/write.ts'
import { resolveTape } from '../store/home.ts'
import { openTape } from '../store/file/read.ts'
import { pickLabels, type TapeLabels } from '../tape/header.ts'
import { parseServerFilter } from '../tape/server-filter.ts'
import { quoteTapeArgument } from '../text.ts'

interface RunFlags extends LabelFlags {
  readonly record?: string
  readonly replay?: string
  readonly overwrite?: true
  readonly onDrift?: DriftPolicy
  readonly server?: string
  readonly vault?: string
}

export const runCommand: CommandDefinition = defineCommand<RunFlags>({
  name: 'run',
  usage: '(--record | --replay) <tape> [options] -- <command…>',
  arguments: { '<command...>': 'The program and its arguments, after --' },
  options: {
    record: option('--record <tape>', textValue, 'Record to a tape with this name or path', {
      conflicts: ['replay'],
    }),
    replay: option('--replay <tape>', textValue, 'Replay the servers from this tape, without starting them'),
    overwrite: { ...overwriteOption, needs: { record: true } },
    onDrift: option(
      '--on-drift <action>',
      choiceOf<DriftPolicy>('fail', 'note', 'ignore'),
      'If the program sends other requests than recorded: exit with 1 (fail), or only report it (note); ignore also accepts that nothing is played',
      { default: 'fail in CI, otherwise note', needs: { replay: true } },
    ),
    server: serverFilter('Record or replay only these servers'),
    vault: { ...vaultOption, needs: { record: true } },
    ...LABEL_OPTIONS,
  },
  run: async ([program, ...args], flags) => {
    if (program === undefined) throw usageError('no command to run', EXAMPLE)
    checkRunFlags(flags, process.env)
    announceConfig({}, flags.record === undefined ? 'ignore' : 'run')
    if (flags.vault !== undefined)
      warnAboutVault({ output: undefined, name: flags.record, redact: { vault: flags.vault } })
    const command = [program, ...args] as const
    if (flags.replay !== undefined) return replayProgram(flags.replay, command, flags)
    const path = resolveTape(flags.record ?? '')
    requireNewTape(path, flags.overwrite)
    if (flags.overwrite) removeTapes(path)
    const before = lastTapeNumber(path)
    const end = await runWithInheritedStdio(command, runEnvironment(flags, process.env))
    if (lastTapeNumber(path) === before)
      printNote(`nothing was recorded: ${unseenReason(program, flags)}`, recordHint(program))
    exitLike(end)
  },
})

type DriftPolicy = 'fail' | 'note' | 'ignore'

const EXAMPLE = 'for example: reelay run --record my-tape -- node app.js'

/** Runs a program with the servers of a tape, and fails if that was no faithful replay. */
async function replayProgram(
  tape: string,
  command: readonly [string, ...string[]],
  flags: RunFlags,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-run-'))
  const report = join(folder, 'report.jsonl')
  try {
    const shims = await writeServerShims(join(folder, 'bin'), { tape: resolveTape(tape), report, flags })
    const { PATH: path = '' } = process.env
    const env = {
      ...runEnvironment(flags, process.env),
      [REPORT_VARIABLE]: report,
      ...(shims && { PATH: `${shims}${delimiter}${path}` }),
    }
    const end = await runWithInheritedStdio(command, env)
    const problem = findReplayProblem(readReplayReport(report), flags.onDrift ?? defaultDriftPolicy())
    if (problem === 'nothing played')
      printNote(
        `nothing was played from ${tape}: ${unseenReason(command[0], flags)}`,
        `${serveHint(tape)}; --on-drift ignore accepts this`,
      )
    rmSync(folder, { recursive: true, force: true }) // before the process ends
    exitLike(problem !== undefined && end.code === 0 ? { ...end, code: 1 } : end)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface ServerShims {
  readonly tape: string
  readonly report: string
  readonly flags: RunFlags
}

/**
 * Writes a script for each program that starts a stdio server of the tape. It is found first on the PATH, and serves the tape if
 * its arguments are those of the recorded server. So clients in any language are replayed. Returns the folder, if there are any.
 */
async function writeServerShims(
  folder: string,
  { tape, report, flags }: ServerShims,
): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const { header } = await openTape(tape)
  const isMeant = parseServerFilter(flags.server)
  const programs = new Map<string, string[]>()
  for (const [server, { command = [] }] of Object.entries(header.servers)) {
    const [program, ...args] = command
    if (program === undefined || program.includes('/') || !isMeant(server)) continue
    const tests = [
      `[ $# -eq ${args.length} ]`,
      ...args.map((arg, at) => `[ "\${${at + 1}}" = ${quoted(arg)} ]`),
    ]
    const serve = [...reelayCommand(), 'serve', tape, '--server', server].map(quoted).join(' ')
    const start = `unset REELAY_REPLAY REELAY_REPLAY_SERVER NODE_OPTIONS; ${REPORT_VARIABLE}=${quoted(report)} exec ${serve}`
    programs.set(program, [...(programs.get(program) ?? []), `if ${tests.join(' && ')}; then ${start}; fi`])
  }
  const found = [...programs].filter(([program]) => findProgram(program) !== undefined)
  if (found.length === 0) return undefined
  mkdirSync(folder)
  for (const [program, tests] of found) {
    const lines = ['#!/bin/sh', ...tests, `exec ${quoted(findProgram(program) ?? '')} "$@"`, '']
    writeFileSync(join(folder, program), lines.join('\n'), { mode: 0o700 })
  }
  return folder
}

function findProgram(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

/** In CI nobody reads a note. */
function defaultDriftPolicy(): DriftPolicy {
  const { CI: ci = '' } = process.env
  return ci === '' || ci === '0' || ci.toLowerCase() === 'false' ? 'note' : 'fail'
}

type ReplayReportLine = Partial<ReplayedSession & LiveConnection>

function readReplayReport(path: string): readonly ReplayReportLine[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.map(parseJson).filter(isObject)
}

function findReplayProblem(
  lines: readonly ReplayReportLine[],
  policy: DriftPolicy,
): 'nothing played' | 'went live' | 'drift' | undefined {
  if (policy === 'ignore') return undefined
  if (lines.some(({ live }) => live !== undefined)) return 'went live'
  if (lines.length === 0) return 'nothing played'
  const hasDrift = lines.some(({ misses = 0, leftOver = 0 }) => misses + leftOver > 0)
  return hasDrift && policy === 'fail' ? 'drift' : undefined
}

function printNote(text: string, hint: string): void {
  process.stderr.write(`reelay: ${text}\n  hint: ${hint}\n`)
}

/** Why no server of the program was seen. */
function unseenReason(program: string, { server, replay }: RunFlags): string {
  const other = otherLanguage(program)
  if (other !== undefined)
    return replay === undefined
      ? `${program} is ${other}, and only Node programs are recorded from inside`
      : `${program} is ${other}, so a server is played only if it is started by the recorded command, without a path`
  const which = server === undefined ? 'an MCP server' : `a server that --server ${server} selects`
  return `no Node program with an MCP client that Reelay recognises connected to ${which}`
}

/** The runtime of a command that is plainly not Node, by its name. */
function otherLanguage(program: string): string | undefined {
  const name = basename(program).replace(/\.(exe|cmd)$/i, '')
  const found = OTHER_RUNTIMES.find(([pattern]) => pattern.test(name))
  return found?.[1]
}

const OTHER_RUNTIMES: readonly (readonly [RegExp, string])[] = [
  [/^(python|pypy)[\d.]*$|^(uv|uvx|poetry|pytest)$/, 'Python'],
  [/^go$/, 'Go'],
  [/^(ruby|bundle)$/, 'Ruby'],
  [/^(java|mvn|gradle|kotlin)$/, 'Java'],
  [/^dotnet$/, '.NET'],
  [/^php$/, 'PHP'],
  [/^cargo$/, 'Rust'],
  [/^deno$/, 'Deno'],
  [/^bun$/, 'Bun'],
]

function recordHint(program: string): string {
  const inFront = 'put `reelay record <name> --` in front of the command that starts the server'
  return otherLanguage(program) === undefined
    ? `for a client that Reelay does not recognise, ${inFront}; see docs/reference/run.md`
    : `${inFront}, or record a server at a URL with reelay record --url <url>`
}

function serveHint(tape: string): string {
  const command = `reelay serve ${quoteTapeArgument(tape)}`
  return `let the client start \`${command}\` in place of the server, or connect to \`${command} --http\``
}

/** Rejects options that cannot work, before the program runs. */
function checkRunFlags(flags: RunFlags, env: NodeJS.ProcessEnv): void {
  const { record, replay } = flags
  if (record === undefined && replay === undefined)
    throw usageError('neither --record <tape> nor --replay <tape> is given', EXAMPLE)
  if (replay !== undefined && Object.keys(labelsToEnv(readRunLabels(flags))).length > 0)
    throw usageError(
      'a replay writes no tape that could be labelled',
      'leave out --session, --endpoint, --agent, --note and --tag, or use --record',
    )
  const path = resolveTape(record ?? replay ?? '', env)
  if (replay === undefined || existsSync(path)) return
  throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
    hint: `record it first: reelay run --record ${replay} -- <command>`,
  })
}

/** The environment in which every Node program records or replays. The command line overrides the variables of the caller. */
function runEnvironment(flags: RunFlags, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { record, replay, server, vault } = flags
  const mode = record === undefined ? 'REELAY_REPLAY' : 'REELAY_RECORD'
  const cleared = Object.entries(env).filter(
    ([name]) => !/^REELAY_(RECORD|REPLAY)(_SERVER|_VAULT|_REPORT)?$/.test(name),
  )
  return {
    ...Object.fromEntries(cleared),
    // A path, because the program may run in another folder.
    [mode]: resolveTape(record ?? replay ?? '', env),
    ...(server !== undefined && { [`${mode}_SERVER`]: server }),
    ...(vault !== undefined && { REELAY_RECORD_VAULT: resolve(vault) }),
    ...labelsToEnv(readRunLabels(flags)),
    NODE_OPTIONS: [env['NODE_OPTIONS'], `--import=${AUTO_MODULE}`].filter(Boolean).join(' '),
  }
}

/** Tags are passed on in one variable, separated by commas. */
function readRunLabels({ tag = [], ...flags }: RunFlags): TapeLabels {
  if (tag.some((each) => each.join('').includes(',')))
    throw usageError('a --tag of a run cannot contain a comma', 'use --tag several times')
  return pickLabels({ ...flags, tags: Object.fromEntries(tag) })
}

const AUTO_MODULE = new URL('../lib/auto.js', import.meta.url).href
