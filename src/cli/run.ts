import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { withProxiedLocalUrls, type ProxiedProgram } from '../auto/go-programs.ts'
import { playProxiedServers, recordProxiedServers, type ServerProxy } from '../auto/proxied-servers.ts'
import { PlayedServers, RECORD_AGAIN_VARIABLE, ReplayAccount } from '../auto/replay-servers.ts'
import { ServerNames, TapeSet } from '../auto/server-lookup.ts'
import { mcporterTape } from '../auto/switches.ts'
import {
  isRelay,
  playStartedServers,
  recordStartedServers,
  relayServer,
  type ServerShims,
} from '../auto/server-shims.ts'
import { defineCommand, type CommandDefinition } from './command.ts'
import { announceConfig } from './options/config-options.ts'
import { option, usageError } from './options/option.ts'
import { choiceOf, newTapeValue, textValue } from './options/option-types.ts'
import {
  LABEL_OPTIONS,
  overwriteOption,
  serverFilter,
  vaultOption,
  type LabelFlags,
} from './options/shared-options.ts'
import { warnAboutVault } from './record/record-output.ts'
import { usableCa } from './record/record-proxy.ts'
import { reelayCommand, withDocsPaths } from './reelay-command.ts'
import { exitLike } from './signals.ts'
import { ReelayError } from '../errors.ts'
import { bareHost } from '../http/hosts.ts'
import type { CertificateKeyPair } from '../http/proxy/certificates.ts'
import { newProxyCredentials } from '../http/proxy/forward-proxy.ts'
import { isObject, parseJson } from '../json/parse.ts'
import { runWithInheritedStdio } from '../link/process/run-inherited.ts'
import type { ProcessExit } from '../link/process/server-process.ts'
import { REPORT_VARIABLE, type LiveConnection, type ReplayedSession } from '../serve/drift.ts'
import { proxyEnvironment, writeTrustFiles, type TrustFiles } from '../record/http/proxy-environment.ts'
import { Recording } from '../record/recording.ts'
import { labelsToEnv } from '../record/tape-header.ts'
import { createThrowawayRedactor } from '../serve/redaction/report-redactor.ts'
import { missingTapeHint } from '../store/file/read.ts'
import { whyServersAreSilent } from '../store/file/rewrite.ts'
import { lastTapeNumber, numberedPath, removeTapes, requireNewTape } from '../store/file/write.ts'
import { isTapePath, resolveTape, TAPE_EXTENSION } from '../store/home.ts'
import { pickLabels, type TapeLabels } from '../tape/header.ts'
import { parseServerFilter, type ServerFilter } from '../tape/server-filter.ts'
import { escapeControlChars, quoteShellWord, quoteTapeArgument } from '../text.ts'

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
    record: option('--record <tape>', newTapeValue, 'Record to a tape with this name or path', {
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
  run: async ([program, ...args], given) => {
    if (program === undefined) throw usageError('no command to run', EXAMPLE)
    if (isRelay(process.env)) return relayServer([program, ...args])
    const flags = withMcporterTape(given, process.env)
    checkRunFlags(flags, process.env)
    announceConfig({}, flags.record === undefined ? 'ignore' : 'run')
    if (flags.vault !== undefined)
      warnAboutVault({ output: undefined, name: flags.record, redact: { vault: flags.vault } })
    const command = [program, ...args] as const
    if (flags.replay !== undefined) return replayProgram(flags.replay, command, flags)
    return recordProgram(flags.record ?? '', command, flags)
  },
})

/** Without --record and --replay, the variables of mcporter are read. The program does not get them. */
function withMcporterTape(flags: RunFlags, env: NodeJS.ProcessEnv): RunFlags {
  const named = flags.record === undefined && flags.replay === undefined ? mcporterTape(env) : undefined
  if (named === undefined) return flags
  const { kind, tape, variable } = named
  const shown = quoteTapeArgument(escapeControlChars(tape))
  printLine(`${variable}=${shown} is read as --${kind} ${shown}`)
  return { ...flags, [kind]: tape }
}

type DriftPolicy = 'fail' | 'note' | 'ignore'

const EXAMPLE = 'for example: reelay run --record my-tape -- node app.js'

/** Runs a program and records its servers, and ends as it ended. */
async function recordProgram(
  tape: string,
  command: readonly [string, ...string[]],
  flags: RunFlags,
): Promise<void> {
  const { end, isRecorded } = await runAndRecord(tape, command, flags)
  const path = resolveTape(tape)
  const silence = isRecorded && existsSync(path) ? await whyServersAreSilent(path) : undefined
  if (silence !== undefined)
    printNote(
      escapeControlChars(silence),
      `\`reelay inspect ${quoteTapeArgument(tape)}\` shows what happened`,
    )
  else if (isRecorded)
    printLine(
      `next, run it without the servers: reelay run --replay ${quoteTapeArgument(tape)} -- ${createThrowawayRedactor().command(command).map(quoteShellWord).join(' ')}`,
    )
  const hasFailed = !isRecorded || silence !== undefined
  exitLike(hasFailed && end.code === 0 ? { ...end, code: 1 } : end)
}

interface RecordedRun {
  readonly end: ProcessExit
  readonly isRecorded: boolean
}

async function runAndRecord(
  tape: string,
  command: readonly [string, ...string[]],
  flags: RunFlags,
): Promise<RecordedRun> {
  const path = resolveTape(tape)
  requireNewTape(path, flags.overwrite)
  if (flags.overwrite) removeTapes(path)
  const before = lastTapeNumber(path)
  const end = await runWithServers(command, flags, async (options) => {
    if (isNodeCommand(command[0])) return {} // it is recorded from inside
    const { vault } = flags
    const redact = { values: options.credentials.secrets, ...(vault !== undefined && { vault }) }
    const recording = new Recording({ tape: path, redact, ...readRunLabels(flags) })
    const shared = { ...options, recording, names: new ServerNames() }
    const authority = usableCa()
    const opened = await openBoth(
      () => recordStartedServers(shared),
      async () => (needsOwnProxy() ? undefined : recordProxiedServers({ ...shared, authority })),
    )
    return {
      authority,
      ...opened,
      finish: async () => {
        const { loss } = await recording.close()
        if (recording.path === undefined) return
        printLine(loss ? `TAPE_UNWRITABLE ${recording.path}: ${loss.why}` : `recorded to ${recording.path}`)
      },
    }
  })
  const isRecorded = lastTapeNumber(path) !== before
  if (!isRecorded)
    printNote(`nothing was recorded: ${unseenReason(command[0], flags)}`, recordHint(command[0]))
  return { end, isRecorded }
}

interface TestFlags {
  readonly tape?: string
  readonly mode?: TestMode
  readonly server?: string
}

type TestMode = 'auto' | 'once' | 'none' | 'rewrite'

const testRunCommand = defineCommand<TestFlags>({
  name: 'run',
  parent: 'test',
  help: 'Run a test command in any language: record its MCP servers once, replay them afterwards',
  usage: '[options] -- <command…>',
  arguments: { '<command...>': 'The test command and its arguments, after --' },
  options: {
    tape: option('--tape <tape>', textValue, 'Name of a tape in __tapes__, or a path', { default: 'tests' }),
    mode: option(
      '--mode <mode>',
      choiceOf<TestMode>('auto', 'once', 'none', 'rewrite'),
      'once records if there is no tape, none only replays, rewrite records again; REELAY_MODE overrides it',
      { default: 'auto: once, and none in CI' },
    ),
    server: serverFilter('Record or replay only these servers'),
  },
  run: async ([program, ...args], { tape: given = 'tests', mode, server }) => {
    if (program === undefined) throw usageError('no command to run', 'for example: reelay test run -- pytest')
    if (isRelay(process.env)) return relayServer([program, ...args])
    const command = [program, ...args] as const
    const flags = { ...(server !== undefined && { server }) }
    const tape = testTapePath(given)
    const chosen = testMode(mode)
    const exists = existsSync(resolveTape(tape))
    if (chosen === 'none' && !exists)
      throw new ReelayError(
        'TAPE_NOT_FOUND',
        `there is no tape ${tape}, and nothing is recorded in this mode`,
        {
          hint: 'run the command locally once, where the servers are, and commit the tape',
        },
      )
    if (exists && chosen !== 'rewrite')
      return replayProgram(tape, command, {
        ...flags,
        replay: tape,
        onDrift: 'fail',
        recordAgain: recordTestsCommandLine(given, command),
      })
    await recordTests(tape, command, { ...flags, record: tape })
  },
})

/** Tapes of tests are committed, so that a name is a file of the project and not of the home folder. */
function testTapePath(tape: string): string {
  resolveTape(tape) // rejects names that cannot be names of files
  return isTapePath(tape) ? tape : join('__tapes__', `${tape}${TAPE_EXTENSION}`)
}

function recordTestsCommandLine(tape: string, command: readonly string[]): string {
  const words = createThrowawayRedactor().command(command).map(quoteShellWord)
  const named = tape === 'tests' ? '' : ` --tape ${quoteTapeArgument(tape)}`
  return `reelay test run --mode rewrite${named} -- ${words.join(' ')}`
}

function testMode(given: TestMode = 'auto'): TestMode {
  const { REELAY_MODE: forced = '' } = process.env
  if (forced !== '') {
    const known = (['auto', 'once', 'none', 'rewrite'] as const).find((each) => each === forced)
    if (known === undefined)
      throw usageError(
        `REELAY_MODE=${forced} is not a mode of reelay test run`,
        'use auto, once, none or rewrite',
      )
    printLine(`REELAY_MODE=${forced} overrides --mode`)
    return resolvedTestMode(known)
  }
  return resolvedTestMode(given)
}

function resolvedTestMode(mode: TestMode): TestMode {
  return mode === 'auto' ? (defaultDriftPolicy() === 'fail' ? 'none' : 'once') : mode
}

/** Keeps the tape only if the tests have passed. Otherwise the tape of before is there again. */
async function recordTests(
  tape: string,
  command: readonly [string, ...string[]],
  flags: RunFlags,
): Promise<void> {
  const path = resolveTape(tape)
  const before = moveAside(path)
  const { end, isRecorded } = await runAndRecord(tape, command, flags)
  const isKept = end.code === 0 && isRecorded
  if (!isKept) removeTapes(path)
  for (const { from, aside } of before)
    if (isKept) rmSync(aside)
    else renameSync(aside, from)
  printLine(
    isKept ? `the tests passed; the tape is ${tape}` : 'the tape is not kept, because the tests did not pass',
  )
  exitLike(!isRecorded && end.code === 0 ? { ...end, code: 1 } : end)
}

interface AsideTape {
  readonly from: string
  readonly aside: string
}

function moveAside(path: string): readonly AsideTape[] {
  const last = lastTapeNumber(path)
  const paths = Array.from({ length: last }, (_, copy) => (copy === 0 ? path : numberedPath(path, copy + 1)))
  return paths
    .filter((each) => existsSync(each))
    .map((from) => {
      const aside = `${from}.before`
      renameSync(from, aside)
      return { from, aside }
    })
}

export const testCommand: CommandDefinition = { name: 'test', options: {}, commands: [testRunCommand] }

interface ReplayedRunFlags extends RunFlags {
  /** The command that records the tape again, if it is not `reelay run`. */
  readonly recordAgain?: string
}

/** Runs a program with the servers of a tape, and fails if that was no faithful replay. */
async function replayProgram(
  tape: string,
  command: readonly [string, ...string[]],
  flags: ReplayedRunFlags,
): Promise<void> {
  const lines: ReplayReportLine[] = []
  const unused: string[] = []
  const end = await runWithServers(command, flags, async (options) => {
    const tapes = new TapeSet(resolveTape(tape))
    const account = new ReplayAccount(options.report, tape)
    const recordCommand = flags.recordAgain ?? recordCommandLine(tape, command)
    const shared = { ...options, tapes, account, name: tape, names: new ServerNames(), recordCommand }
    const isPlayedByProxy = !isNodeCommand(command[0]) && !needsOwnProxy()
    const authority = isPlayedByProxy ? await authorityFor(tapes, options) : undefined
    const opened = await openBoth(
      () => playStartedServers({ ...shared, played: new PlayedServers(shared) }),
      async () => (isPlayedByProxy ? playProxiedServers({ ...shared, authority }) : undefined),
    )
    return {
      authority,
      ...opened,
      finish: async () => {
        account.close()
        lines.push(...readReplayReport(options.report))
        unused.push(...unusedServers(await tapes.servers(), lines).filter(options.isMeant))
      },
    }
  })
  const policy = flags.onDrift ?? defaultDriftPolicy()
  const problem = findReplayProblem(lines, policy, unused)
  if (problem !== 'nothing played' && policy !== 'ignore')
    for (const server of unused) printLine(`${server} is on the tape, but the program did not connect to it`)
  if (problem === 'nothing played')
    printNote(
      `nothing was played from ${tape}: ${unseenReason(command[0], flags)}`,
      flags.recordAgain === undefined
        ? `${serveHint(tape)}; --on-drift ignore accepts this`
        : `record it again if the servers have changed: ${flags.recordAgain}`,
    )
  const answered = lines.reduce((sum, line) => sum + (line.answered ?? 0), 0)
  const hasDrift = lines.some(({ misses = 0, leftOver = 0 }) => misses + leftOver > 0)
  if (answered > 0 && !hasDrift)
    printLine(`${answered} ${answered === 1 ? 'request' : 'requests'} answered from ${tape}`)
  if (hasDrift && policy === 'note' && end.code === 0)
    printLine('the program sent other requests than recorded; with --on-drift fail, this is exit code 1')
  exitLike(problem !== undefined && end.code === 0 ? { ...end, code: 1 } : end)
}

/** What every way to record or play the servers of a program needs. */
interface ServerOptions {
  /** A folder for the time of the run. */
  readonly folder: string
  /** The file in which played sessions are reported. */
  readonly report: string
  readonly reelay: readonly string[]
  readonly isMeant: ServerFilter
  readonly credentials: ReturnType<typeof newProxyCredentials>
}

/** How the servers of programs that are not Node programs are recorded or played. */
interface ProgramServers {
  readonly proxy?: ServerProxy | undefined
  readonly authority?: TrustedAuthority | undefined
  readonly shims?: ServerShims | undefined
  /** Called when the program and its servers have ended. */
  readonly finish?: () => Promise<void>
}

/** Opens what programs in other languages need. If the second fails, the first must not keep this process alive. */
async function openBoth(
  openShims: () => Promise<ServerShims | undefined>,
  openProxy: () => Promise<ServerProxy | undefined>,
): Promise<Pick<ProgramServers, 'shims' | 'proxy'>> {
  const shims = await openShims()
  try {
    return { shims, proxy: await openProxy() }
  } catch (error) {
    await shims?.close()
    throw error
  }
}

type TrustedAuthority = CertificateKeyPair & { readonly certPath: string }

async function runWithServers(
  command: readonly [string, ...string[]],
  flags: ReplayedRunFlags,
  open: (options: ServerOptions) => Promise<ProgramServers>,
): Promise<ProcessExit> {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-run-'))
  const report = join(folder, 'report.jsonl')
  try {
    const { proxy, authority, shims, finish } = await open({
      folder,
      report,
      reelay: reelayCommand(),
      isMeant: parseServerFilter(flags.server),
      credentials: newProxyCredentials(),
    })
    const trust = authority && writeTrustFiles(folder, authority, process.env)
    const env = {
      ...runEnvironment(flags, process.env),
      [REPORT_VARIABLE]: flags.replay === undefined ? undefined : report,
      ...shims?.env,
      ...(proxy && proxyVariables(proxy, trust)),
    }
    const program = proxy === undefined ? { command, env } : proxiedProgram(command, env)
    const ending = runWithInheritedStdio(program.command, program.env)
    await Promise.allSettled([ending])
    await shims?.close()
    await proxy?.close()
    await finish?.()
    if (proxy !== undefined) printUnseenHosts(proxy, flags)
    return await ending
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function isNodeCommand(program: string): boolean {
  return NODE_COMMANDS.test(basename(program))
}

const NODE_COMMANDS = /^(node|npm|npx|pnpm|yarn|tsx|ts-node)(\.(exe|cmd))?$/i

/** Whether the program needs a proxy to reach its servers. The proxy of Reelay cannot use another one. */
function needsOwnProxy(): boolean {
  return PROXY_VARIABLES.some((name) => process.env[name] || process.env[name.toLowerCase()])
}

const PROXY_VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']

function proxiedProgram(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Pick<ProxiedProgram, 'command' | 'env'> {
  const { changed, ...program } = withProxiedLocalUrls({ command, env })
  if (changed.length > 0)
    printLine(
      `Go uses no proxy for localhost, so the program gets ${changed.join(', ')} with a dot after the host`,
    )
  return program
}

/** Node programs that run beside others are recorded and played from inside, so they get no proxy. */
function proxyVariables({ url }: ServerProxy, trust: TrustFiles | undefined): NodeJS.ProcessEnv {
  return { ...proxyEnvironment({ env: process.env, proxy: url, trust }), NODE_USE_ENV_PROXY: undefined }
}

/** A certificate authority for the hosts of the tape only. Its key stays in this process. */
async function authorityFor(
  tapes: TapeSet,
  { isMeant, folder }: ServerOptions,
): Promise<TrustedAuthority | undefined> {
  const urls = (await tapes.servers()).flatMap(({ server, info: { url } }) =>
    url !== undefined && URL.canParse(url) && isMeant(server) ? [new URL(url)] : [],
  )
  const hosts = urls.filter(({ protocol }) => protocol === 'https:').map(bareHost)
  if (hosts.length === 0) return undefined
  const { makeAuthority } = await import('../http/proxy/certificates.ts')
  const authority = await makeAuthority('Reelay replay', new Date(), [...new Set(hosts)])
  const certPath = join(folder, 'authority.pem')
  writeFileSync(certPath, authority.cert)
  return { ...authority, certPath }
}

function recordCommandLine(tape: string, command: readonly string[]): string {
  const words = createThrowawayRedactor().command(command).map(quoteShellWord)
  return `reelay run --record ${quoteTapeArgument(tape)} --overwrite -- ${words.join(' ')}`
}

/** Says which hosts the proxy could not look into, because an MCP server may be among them. */
function printUnseenHosts(proxy: ServerProxy, { replay }: RunFlags): void {
  const { tunnelled, distrusted } = proxy.notices()
  if (distrusted.length > 0)
    printLine(
      `${hostList(distrusted)} did not accept the certificate of Reelay, so nothing was ${replay === undefined ? 'recorded' : 'played'} there: the program may not use SSL_CERT_FILE`,
    )
  if (tunnelled.length === 0) return
  const hosts = `HTTPS to ${hostList(tunnelled)} was forwarded unread`
  if (replay === undefined)
    printLine(`${hosts}; if an MCP server is there, run reelay ca create and record again`)
  else printLine(`${hosts}, because the tape has no server there`)
}

function hostList(hosts: readonly string[]): string {
  return escapeControlChars(hosts.join(', '))
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

/** The servers that have requests on the tape and were not played. */
function unusedServers(
  servers: Awaited<ReturnType<TapeSet['servers']>>,
  lines: readonly ReplayReportLine[],
): readonly string[] {
  const played = new Set(lines.map(({ server }) => server))
  const names = servers.filter(({ hasRequests, server }) => hasRequests && !played.has(server))
  return [...new Set(names.map(({ server }) => server))]
}

function findReplayProblem(
  lines: readonly ReplayReportLine[],
  policy: DriftPolicy,
  unused: readonly string[],
): 'nothing played' | 'went live' | 'drift' | undefined {
  if (policy === 'ignore') return undefined
  if (lines.some(({ live }) => live !== undefined)) return 'went live'
  if (lines.every(({ answered = 0 }) => answered === 0)) return 'nothing played'
  const hasDrift = unused.length > 0 || lines.some(({ misses = 0, leftOver = 0 }) => misses + leftOver > 0)
  return hasDrift && policy === 'fail' ? 'drift' : undefined
}

function printNote(text: string, hint: string): void {
  printLine(`${text}\n  hint: ${withDocsPaths(hint)}`)
}

function printLine(text: string): void {
  process.stderr.write(`reelay: ${text}\n`)
}

/** Why no server of the program was seen. */
function unseenReason(program: string, { server }: RunFlags): string {
  const which = server === undefined ? 'MCP server' : `server that --server ${server} selects`
  if (isNodeCommand(program))
    return `no Node program with an MCP client that Reelay recognises connected to ${server === undefined ? 'an' : 'a'} ${which}`
  const overHttp = needsOwnProxy()
    ? 'it uses a proxy of its own (HTTP_PROXY), which Reelay does not replace'
    : `it has to use the proxy in HTTP_PROXY${mayBeGo(program) ? ', which Go programs use for localhost only if its URL is an argument or a variable' : ''}`
  const name = 'it has to start the server by a name such as npx'
  const overStdio =
    otherLanguage(program) === 'Python' ? `${name}, or with subprocess` : `${name}, without a path`
  return `Reelay saw ${program} connect to no ${which}\n  over HTTP, ${overHttp}\n  over stdio, ${overStdio}`
}

/** A compiled program has a name of its own. */
function mayBeGo(program: string): boolean {
  return ['Go', undefined].includes(otherLanguage(program))
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

/** The ways to record that depend on nothing in the program. */
function recordHint(program: string): string {
  const stdio = 'put `reelay record <name> --` in front of the command that starts the server'
  if (isNodeCommand(program))
    return `for a client that Reelay does not recognise, ${stdio}; see docs/reference/run.md`
  return `over stdio, ${stdio}, or run \`reelay wrap --file <config>\` if the command is in a config file; over HTTP, run \`reelay record <name> --url <url>\` and connect to the URL that it prints`
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
  const recording = join(homedir(), '.mcporter', 'recordings', `${replay}.ndjson`)
  if (!isTapePath(replay) && existsSync(recording))
    throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
      hint: `there is a recording of mcporter: reelay import ${quoteShellWord(recording)}`,
    })
  const [, guess = ''] = /^(did you mean .*?\? )/.exec(missingTapeHint(path)) ?? []
  throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
    hint: `${guess}${guess === '' ? 'record' : 'Otherwise record'} it first: reelay run --record ${replay} -- <command>`,
  })
}

/** The environment in which every Node program records or replays. The command line overrides the variables of the caller. */
function runEnvironment(flags: ReplayedRunFlags, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { record, replay, server, vault } = flags
  const mode = record === undefined ? 'REELAY_REPLAY' : 'REELAY_RECORD'
  const cleared = Object.entries(env).filter(
    ([name]) => !/^REELAY_(RECORD|REPLAY)(_SERVER|_VAULT|_REPORT)?$|^MCPORTER_(RECORD|REPLAY)$/.test(name),
  )
  return {
    ...Object.fromEntries(cleared),
    // A path, because the program may run in another folder.
    [mode]: resolveTape(record ?? replay ?? '', env),
    ...(server !== undefined && { [`${mode}_SERVER`]: server }),
    ...(vault !== undefined && { REELAY_RECORD_VAULT: resolve(vault) }),
    [RECORD_AGAIN_VARIABLE]: flags.recordAgain,
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
