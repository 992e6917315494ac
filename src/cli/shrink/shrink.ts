import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import {
  usageError,
  formatOptions,
  inGroup,
  option,
  readOptions,
  type GivenOptions,
  type OptionRow,
  type OptionRows,
  type OptionTable,
} from '../options/option.ts'
import {
  countValue,
  durationValue,
  fileValue,
  headerRecord,
  headerValue,
  listOf,
  switchOff,
  textValue,
} from '../options/option-types.ts'
import { readSecretValues } from '../options/live-options.ts'
import {
  readReplayFlags,
  REPLAY_OPTIONS,
  toReplayOptions,
  type ReplayFlags,
} from '../options/replay-options.ts'
import { jsonOption, overwriteOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { clearProgress, showProgress, showTapeReading } from '../output/progress.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { createBeforeRun, REPLAY_ARGUMENTS } from '../replay/replay.ts'
import { FoldedStderr, readReplayTarget } from '../replay/replay-target.ts'
import { abortOnSignals } from '../signals.ts'
import type { CommandDefinition } from '../command.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { signalGroup } from '../../link/process/process-family.ts'
import type { ReplayTarget } from '../../replay/options.ts'
import { urlTarget } from '../../replay/targets.ts'
import { liveSecrets } from '../../replay/session/live-secrets.ts'
import { shrinkAsJson, shrinkAsText, type ShrinkReport } from '../../report/failures/shrink.ts'
import { shareTape } from '../../share/share-tape.ts'
import {
  capsuleAsHtml,
  capsuleAsMarkdown,
  capsuleFacts,
  type CapsuleFacts,
  tellStory,
} from '../../shrink/capsule.ts'
import { writingTools } from '../../shrink/failing-session.ts'
import { parseOracle } from '../../shrink/oracle.ts'
import type { Probe, ServerProbe } from '../../shrink/prober.ts'
import { shrinkTape, type ShrinkResult } from '../../shrink/shrink.ts'
import { loadTape } from '../../store/file/read.ts'
import { writeOwnFile } from '../../store/file/replace-file.ts'
import { requireNewTape } from '../../store/file/write.ts'
import { resolveTape, TAPE_EXTENSION } from '../../store/home.ts'
import { quoteShellWord } from '../../text.ts'

interface ShrinkFlags {
  readonly fails?: string
  readonly at?: number
  readonly output?: string
  readonly overwrite?: true
  readonly capsule?: boolean
  readonly probes?: number
  readonly for?: number
}

const DEFAULT_PROBES = 500
const DEFAULT_TIME_MS = 10 * 60_000

const SHRINK_ONLY_OPTIONS: OptionTable<ShrinkFlags> & OptionRows = {
  ...inGroup('Failure', {
    fails: option(
      '--fails <condition>',
      textValue,
      "The failure to keep: is-error, error, crash, hang, internal-error, leak, schema, protocol, isolation, difference, secret, traversal, injection, a filter such as 'result.total > 100', or 'command: npm test' (required)",
    ),
    at: option('--at <exchange>', countValue(), 'Keep the failure of this exchange, e.g. 38 for #38', {
      default: 'the last kind of failure in the session',
    }),
  }),
  ...inGroup('Search', {
    probes: option('--probes <n>', countValue(), 'Run the server at most this many times', {
      default: String(DEFAULT_PROBES),
    }),
    for: option('--for <time>', durationValue('s', 1), 'Search at most this long', { default: '10m' }),
  }),
  ...inGroup('Output', {
    output: option('-o, --output', fileValue, 'Write the smallest tape to this file', {
      default: '<tape>.min.tape.jsonl in this folder',
    }),
    overwrite: overwriteOption,
    capsule: option('--no-capsule', switchOff, 'Write only the tape, and no capsule next to it'),
  }),
}

/** The options of a run that a search has too. */
type LiveFlags = Pick<
  ReplayFlags,
  | 'url'
  | 'header'
  | 'timeout'
  | 'startTimeout'
  | 'sse'
  | 'server'
  | 'bindings'
  | 'ignore'
  | 'onAsk'
  | 'allow'
  | 'allowWrites'
  | 'beforeRun'
  | 'secret'
  | 'secrets'
>

/** `--other-header` of the commands that play two sessions. */
export const otherHeaderOption: OptionRow<readonly AddedHeader[]> = option(
  '--other-header',
  listOf(headerValue),
  'Add a header to the requests of the second session instead of --header, such as the token of another user (repeatable)',
  { needs: { url: true }, group: 'Live server' },
)

export const SHARED_LIVE_OPTIONS: OptionTable<LiveFlags> & OptionRows = {
  url: REPLAY_OPTIONS.url,
  header: REPLAY_OPTIONS.header,
  timeout: REPLAY_OPTIONS.timeout,
  startTimeout: REPLAY_OPTIONS.startTimeout,
  sse: REPLAY_OPTIONS.sse,
  server: REPLAY_OPTIONS.server,
  bindings: REPLAY_OPTIONS.bindings,
  ignore: REPLAY_OPTIONS.ignore,
  onAsk: REPLAY_OPTIONS.onAsk,
  allow: REPLAY_OPTIONS.allow,
  allowWrites: REPLAY_OPTIONS.allowWrites,
  beforeRun: REPLAY_OPTIONS.beforeRun,
  secret: REPLAY_OPTIONS.secret,
  secrets: REPLAY_OPTIONS.secrets,
}

/** Reads the options of a run. Options of the command itself may have the names of other options of `replay`. */
export function readLiveFlags(command: 'vary' | 'isolate' | 'capsule run', given: GivenOptions): ReplayFlags {
  const names = new Set([...Object.keys(SHARED_LIVE_OPTIONS), 'verbose'])
  return readReplayFlags(
    command,
    Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name))),
  )
}

export const shrinkCommand: CommandDefinition = {
  name: 'shrink',
  usage:
    '[options] <tape> --fails <condition> -- <server command…>\n' +
    '       reelay shrink [options] <tape> --fails <condition> --url <url>\n' +
    "       reelay shrink [options] <tape> --fails 'command: <test command>'",
  arguments: REPLAY_ARGUMENTS,
  options: {
    ...SHRINK_ONLY_OPTIONS,
    ...SHARED_LIVE_OPTIONS,
    json: { ...jsonOption, group: 'Output' },
    verbose: { ...REPLAY_OPTIONS.verbose, help: 'Show the stderr of the server', group: 'Output' },
  },
  common: 'fails at url allow allowWrites beforeRun timeout output probes for json'.split(' '),
  notes:
    'A test command gets the path of the tape in the place of {tape} and in REELAY_TAPE, and fails if its exit code is not 0.',
  run: async ([name = '', ...command], given) => {
    const flags = readOptions<ShrinkFlags>(SHRINK_ONLY_OPTIONS, given, { command: 'shrink' })
    const signal = abortOnSignals()
    const live = readReplayFlags('shrink', given)
    const result = await shrink({ name, command, flags, live, given, signal })
    print(createOutputRedactor()(given['json'] === undefined ? shrinkAsText(result) : shrinkAsJson(result)))
    if (signal.aborted) process.exitCode = 130
  },
}

interface ShrinkRun {
  readonly name: string
  readonly command: readonly string[]
  readonly flags: ShrinkFlags
  readonly live: ReplayFlags
  readonly given: GivenOptions
  readonly signal: AbortSignal
}

async function shrink({ name, command, flags, live, given, signal }: ShrinkRun): Promise<ShrinkReport> {
  const { fails, probes: maxProbes = DEFAULT_PROBES, for: maxMs = DEFAULT_TIME_MS } = flags
  if (fails === undefined)
    throw usageError(
      '--fails is required',
      `say what fails, for example: reelay shrink ${quoteShellWord(name)} --fails is-error -- node server.js`,
    )
  const from = resolveTape(name)
  const output = resolve(flags.output ?? `${baseName(from)}.min${TAPE_EXTENSION}`)
  requireNewTape(output, flags.overwrite)
  const stderr = new FoldedStderr(live.verbose === true)
  const probe = createProbe({ fails, command, live, signal, stderr, header: (await loadTape(from)).header })
  showTapeReading()
  const tape = await loadTape(from, 'server')
  const result = await shrinkTape({
    tape,
    server: live.server,
    bindings: live.bindings,
    probe,
    at: flags.at,
    output,
    maxProbes,
    maxMs,
    signal,
    onProgress: ({ probes, messages, stage }) =>
      showProgress(`${stage}: try ${probes}, ${messages} ${messages === 1 ? 'message' : 'messages'}`),
  }).finally(clearProgress)
  const small = await loadTape(output)
  const story = tellStory(small.turns, result.failure.summary)
  const writes = probe.kind === 'server' ? await writingTools(small, { tape, server: live.server }) : []
  const server = serverText(command, live)
  const capsules =
    flags.capsule === false ? [] : await writeCapsules(result, { fails, story, server, writes })
  const [capsule] = capsules
  const rerun =
    capsule === undefined ? undefined : rerunLine(['capsule', 'run', capsule], { writes, command, given })
  return { ...result, story, capsules, rerun }
}

export function serverText(command: readonly string[], { url }: ReplayFlags): string {
  return command.join(' ') || String(url ?? '')
}

/** The command line that runs a failure again, with the options that the session needs. */
export function rerunLine(
  [...words]: readonly string[],
  {
    writes,
    command,
    given,
  }: {
    readonly writes: readonly string[]
    readonly command: readonly string[]
    readonly given: GivenOptions
  },
): string {
  const options = formatOptions(
    { ...SHARED_LIVE_OPTIONS, otherHeader: otherHeaderOption },
    given,
    RERUN_OPTIONS,
  )
  const line = [
    'reelay',
    ...words.map((word) => (isAbsolute(word) ? pathFromHere(word) : word)),
    ...options,
    ...(writes.length > 0 ? ['--allow', writes.join()] : []),
    ...(command.length > 0 ? ['--', ...command] : []),
  ]
  return line.map(quoteShellWord).join(' ')
}

/** The options without which the server or its responses would be others. */
const RERUN_OPTIONS = [
  'url',
  'header',
  'otherHeader',
  'sse',
  'timeout',
  'startTimeout',
  'ignore',
  'onAsk',
  'beforeRun',
  'secret',
  'secrets',
]

function pathFromHere(file: string): string {
  const below = relative(process.cwd(), file)
  return below.startsWith('..') ? file : below
}

function baseName(tape: string): string {
  return (tape.split(/[\\/]/).at(-1) ?? 'tape').replace(/\.tape\.jsonl$|\.jsonl$/, '')
}

interface ProbeSource {
  readonly fails: string
  readonly command: readonly string[]
  readonly live: ReplayFlags
  /** The headers of the second session, if it has others than the first one. */
  readonly otherHeader?: readonly AddedHeader[] | undefined
  readonly signal: AbortSignal
  readonly stderr: FoldedStderr
  readonly header: Parameters<typeof liveSecrets>[0]
}

const COMMAND_PREFIX = /^command:\s*/

/** Reads how a candidate is tried: with a server, or with a test command. */
export function createProbe(source: ProbeSource): Probe {
  const { fails, command, live, otherHeader, signal, stderr, header } = source
  if (COMMAND_PREFIX.test(fails)) {
    if (command.length > 0 || live.url !== undefined)
      throw usageError(
        'a test command and a server are both given',
        "with --fails 'command: …' the command itself uses the tape, for example with reelay serve {tape}",
      )
    const text = fails.replace(COMMAND_PREFIX, '')
    return { kind: 'command', text, run: (tape, stop) => runTestCommand(text, tape, stop, stderr) }
  }
  const values = readSecretValues(live)
  const secrets = liveSecrets(header, { values })
  const before = createBeforeRun(live.beforeRun, signal)
  let run = 0
  const probe: ServerProbe = {
    kind: 'server',
    oracle: parseOracle(fails),
    target: readReplayTarget(command, live, (chunk) => stderr.add(chunk)),
    command,
    secrets: values,
    run: {
      ...toReplayOptions(live),
      onAsk: live.onAsk === 'ask' || live.onAsk === undefined ? 'decline' : live.onAsk,
      ...(secrets && { secrets }),
      keepTexts: 0, // the oracle sees them as they come
    },
    ...(before && { before: () => before(++run) }),
  }
  return live.url === undefined || otherHeader === undefined
    ? probe
    : withOtherTarget(probe, urlTarget(live.url, { headers: headerRecord(otherHeader) }))
}

/** The second session of each run is opened on the other target. */
function withOtherTarget(probe: ServerProbe, other: ReplayTarget): ServerProbe {
  let opened = 0
  return {
    ...probe,
    before: async () => {
      opened = 0
      await probe.before?.()
    },
    target: { ...probe.target, open: (handlers) => (opened++ === 0 ? probe.target : other).open(handlers) },
  }
}

/** Runs a test command with a tape. Returns how it failed. */
async function runTestCommand(
  line: string,
  tape: string,
  stop: AbortSignal,
  stderr: FoldedStderr,
): Promise<string | undefined> {
  const child = spawn(line.replaceAll('{tape}', quoteShellWord(tape)), {
    shell: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, REELAY_TAPE: tape },
    detached: process.platform !== 'win32', // so that everything that the command starts ends with it
  })
  child.stdout.on('data', (chunk: Uint8Array) => stderr.add(chunk))
  child.stderr.on('data', (chunk: Uint8Array) => stderr.add(chunk))
  const end = (): void => void (child.pid !== undefined && signalGroup(child.pid, 'SIGTERM'))
  stop.addEventListener('abort', end, { once: true })
  const [code, signal]: unknown[] = await once(child, 'close')
  stop.removeEventListener('abort', end)
  if (code === 0) return undefined
  return typeof signal === 'string' ? `ended by ${signal}` : `exit code ${Number(code)}`
}

/** Writes the session as a page, and as text if it is short. The tape in it is a copy that is safe to share. */
export async function writeCapsules(
  { failure, path, isSequential, hasPauses }: ShrinkResult,
  { fails, story, server, writes }: Pick<CapsuleFacts, 'fails' | 'story' | 'server' | 'writes'>,
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-capsule-'))
  try {
    const shared = await shareTape({ from: path, to: join(folder, `shared${TAPE_EXTENSION}`) })
    const redact = createOutputRedactor()
    const { turns } = await loadTape(shared.path)
    const facts = capsuleFacts({
      fails: redact(fails),
      call: redact(failure.call),
      signature: redact(failure.signature),
      summary: redact(failure.summary),
      isSequential,
      hasPauses,
      writes: writes.map(redact),
      server: redact(server),
      story: story.map(redact),
      proof: `The tape was checked by reelay share: ${shared.secrets} secrets replaced, none left, ${shared.answered} requests answered as on the tape.`,
    })
    const capsule = { facts, tape: readFileSync(shared.path, 'utf8') }
    const base = path.replace(/\.min\.tape\.jsonl$|\.tape\.jsonl$|\.jsonl$/, '')
    const markdown = capsuleAsMarkdown(capsule)
    const files: readonly (readonly [string, string])[] = [
      [`${base}.capsule.html`, capsuleAsHtml(capsule, turns)],
      ...(markdown === undefined ? [] : [[`${base}.capsule.md`, markdown] as const]),
    ]
    for (const [file, text] of files) await writeOwnFile(file, [text])
    return files.map(([file]) => file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
