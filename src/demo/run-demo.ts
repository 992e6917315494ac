import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText, isDeepStrictEqual } from 'node:util'
import {
  runDemoSession,
  type DemoToolCall,
  type DemoSession,
  toolResultText,
  isMissOutcome,
  hasEveryMessageKind,
  missReportIn,
  toolNames,
} from './client.ts'
import { ReelayError } from '../errors.ts'
import { parseJson, member } from '../json/parse.ts'
import { exchangeTable } from '../report/exchanges.ts'
import { inspectTape } from '../report/inspect/inspect.ts'
import { loadTape } from '../store/file/read.ts'

interface DemoOptions {
  /** How the user starts Reelay, for the closing lines. */
  readonly reelay: string
  /** The command that starts this program, in any folder. */
  readonly program: readonly [string, ...string[]]
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

/**
 * Records a session with a real server, stops the server, serves its tape, and verifies the server against it. Throws if any
 * of that did not happen.
 */
export async function runDemo({ reelay, program, tell, signal }: DemoOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'reelay-demo-'))
  const stage: DemoContext = { program, folder, tell, signal }
  try {
    tell(
      styleText(
        'bold',
        'Reelay records an MCP session, then replaces the server, and then replaces the client.',
      ),
    )
    const recorded = await recordDemoSession(stage)
    await showDemoTape(stage)
    showServerGone(stage, recorded)
    await serveFromTape(stage, recorded)
    await showMiss(stage)
    await verifyServer(stage)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  printNextSteps(tell, reelay)
}

function printNextSteps(tell: DemoOptions['tell'], reelay: string): void {
  tell('')
  tell(
    `${styleText('bold', 'Your turn.')} The demo's tape is deleted. Try it with your own server, in your client's config or here:`,
  )
  tell(styleText('cyan', `  ${reelay} record my-session -- <your server command>`))
  tell(styleText('cyan', `  ${reelay} serve my-session`))
  tell(styleText('cyan', `  ${reelay} verify my-session -- <your server command>`))
}

interface DemoContext {
  readonly program: readonly [string, ...string[]]
  readonly folder: string
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

const TAPE = 'demo.tape.jsonl'

const CALLS: readonly DemoToolCall[] = [
  { tool: 'weather', args: { city: 'Oslo' } },
  { tool: 'count_words', args: { text: 'to be or not to be' } },
  { tool: 'forecast_trip', args: { to: 'Lisbon' } },
]

async function recordDemoSession({ program, folder, tell, signal }: DemoContext): Promise<DemoSession> {
  printHeading(tell, '1. Record.', 'A client talks to a server through `reelay record`.')
  const command = [...program, 'record', '-o', TAPE, '--', ...serverCommand(program)] as const
  const recorded = await runDemoSession({ command, cwd: folder, calls: CALLS, firstId: 0, signal })
  const { list, progress, questions } = recorded.received
  requireTrue(
    hasEveryMessageKind(recorded.received),
    'the server answered, reported progress and asked back',
    recorded,
  )
  requireTrue(recorded.exitCode === 0, 'the recorder ended with the exit code of the server', recorded)
  tell(`   The server offers ${toolNames(list).join(', ')}. Three calls at once:`)
  printAnswers(tell, recorded)
  tell(`   Meanwhile: ${progress.length} progress messages, and the server asked "${questions[0]}"`)
  return recorded
}

async function showDemoTape({ folder, tell }: DemoContext): Promise<void> {
  const inspection = inspectTape(await loadTape(join(folder, TAPE)))
  const size = `${inspection.frames} frames, plain JSON lines`
  printHeading(tell, '2. The tape.', `${size}; \`reelay inspect\` shows the exchanges:`)
  for (const line of exchangeTable(inspection.exchanges, inspection.connections.length > 1))
    tell(`   ${line}`)
}

function showServerGone({ tell }: DemoContext, recorded: DemoSession): void {
  const pid = Number(/demo server ready, pid (\d+)/.exec(recorded.stderr)?.[1])
  requireTrue(pid > 0 && !isAlive(pid), 'the server ended with its client', recorded)
  printHeading(tell, '3. No server.', `The server process ${pid} has exited. From here on, the tape answers.`)
}

async function serveFromTape(
  { program, folder, tell, signal }: DemoContext,
  recorded: DemoSession,
): Promise<void> {
  printHeading(tell, '4. Serve.', 'The same client connects to `reelay serve` with different request ids:')
  const played = await runDemoSession({
    command: [...program, 'serve', TAPE],
    cwd: folder,
    calls: CALLS,
    firstId: 1000,
    signal,
  })
  requireTrue(
    isDeepStrictEqual(played.received, recorded.received),
    'the tape gave the answers of the server',
    played,
  )
  requireTrue(played.exitCode === 0, 'the tape was played to its end', played)
  printAnswers(tell, played)
  tell('   Everything is identical, random values included: handshake, list, results, progress, question.')
}

async function showMiss({ program, folder, tell, signal }: DemoContext): Promise<void> {
  printHeading(
    tell,
    '5. Miss.',
    '"Bergen" was never recorded, only "Oslo". Reelay reports a miss instead of guessing:',
  )
  const calls = [{ tool: 'weather', args: { city: 'Bergen' } }]
  const missed = await runDemoSession({
    command: [...program, 'serve', TAPE],
    cwd: folder,
    calls,
    firstId: 0,
    signal,
  })
  const report = missReportIn(missed.stderr)
  requireTrue(
    isMissOutcome(missed.received.answers[0]) && report.length > 0,
    'what was not recorded is a miss',
    missed,
  )
  requireTrue(missed.exitCode === 1, 'a miss ends with exit code 1', missed)
  for (const line of report) tell(styleText('yellow', `   ${line}`))
  tell('   The client received it as a JSON-RPC error, and `reelay serve` exited with code 1.')
}

async function verifyServer({ program, folder, tell, signal }: DemoContext): Promise<void> {
  printHeading(
    tell,
    '6. Check.',
    'The server is back, and `reelay verify` takes the place of the client: it sends the recorded requests.',
  )
  const command = [...program, 'verify', TAPE, '--json', '--', ...serverCommand(program)] as const
  const checked = await runVerify(command, { cwd: folder, signal })
  requireTrue(checked.exitCode === 0, 'the server still answers as recorded', checked)
  requireTrue(checked.sent === CALLS.length + 1, 'everything was sent', checked)
  const { sent, noise } = checked
  tell(
    `   ${String(sent)} requests, every response as recorded. ${noise.length} texts were not compared: they`,
  )
  tell('   differ from run to run. Any other change would be listed, with exit code 1.')
}

function serverCommand(program: DemoContext['program']): readonly string[] {
  return [...program, 'demo', '--server']
}

function printHeading(tell: DemoContext['tell'], title: string, text: string): void {
  tell('')
  tell(`${styleText('bold', title)} ${text}`)
}

function printAnswers(tell: DemoContext['tell'], { received }: DemoSession): void {
  for (const [index, { tool }] of CALLS.entries())
    tell(`     ${tool.padEnd(14)} ${styleText('green', toolResultText(received.answers[index]) ?? '')}`)
}

function requireTrue(isTrue: boolean, claim: string, { stderr }: Pick<DemoSession, 'stderr'>): void {
  if (isTrue) return
  const hint = stderr === '' ? undefined : `the end of stderr was: ${stderr.trim()}`
  throw new ReelayError('UNEXPECTED', `the demo failed: expected that ${claim}`, hint ? { hint } : {})
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false // no such process: the server is gone, as the demo claims
  }
}

/** The result of `reelay verify` against a live server. */
interface DemoVerification {
  readonly exitCode: number
  readonly stderr: string
  /** Number of requests sent. */
  readonly sent: unknown
  /** Locations whose values differ from run to run. */
  readonly noise: readonly unknown[]
}

/** Runs `reelay verify … --json` to completion. */
function runVerify(
  [file, ...args]: readonly [string, ...string[]],
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<DemoVerification> {
  const env = { ...process.env, REELAY_HOME: options.cwd } // deleted with the folder
  return new Promise((resolve) => {
    const child = execFile(file, args, { ...options, env }, (_error, stdout, stderr) => {
      const report = parseJson(stdout)
      const noise = member(report, 'noise')
      resolve({
        exitCode: child.exitCode ?? 1,
        stderr,
        sent: member(member(report, 'summary'), 'sent'),
        noise: Array.isArray(noise) ? noise : [],
      })
    })
  })
}
