import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, styleText } from 'node:util'
import { ReelayError } from '../errors.ts'
import { exchangeTable } from '../report/exchanges/exchange-table.ts'
import { inspectTape } from '../report/inspect/inspect.ts'
import { loadTape } from '../store/file/read.ts'
import { runDemoSession, type DemoToolCall, type DemoSession } from './client.ts'
import { toolResultText, isMissOutcome, hasEveryMessageKind, missReportIn, toolNames } from './heard.ts'
import { runVerify } from './live-check.ts'

export interface DemoContext {
  readonly folder: string
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

// This code runs from dist/demo or, packed into the program, from dist/cli: paths start at their common parent.
const REELAY_PROGRAM = fileURLToPath(new URL('../cli/main.js', import.meta.url))
const SERVER_PROGRAM = fileURLToPath(new URL('../demo/server.js', import.meta.url))

const TAPE = 'demo.tape.jsonl'
const SERVE_COMMAND = [process.execPath, REELAY_PROGRAM, 'serve', TAPE] as const

const CALLS: readonly DemoToolCall[] = [
  { tool: 'weather', args: { city: 'Oslo' } },
  { tool: 'count_words', args: { text: 'to be or not to be' } },
  { tool: 'forecast_trip', args: { to: 'Lisbon' } },
]

export async function recordDemoSession({ folder, tell, signal }: DemoContext): Promise<DemoSession> {
  printHeading(tell, '1. Record.', 'A client and a server talk as always, with `reelay record` between them.')
  const command = [
    process.execPath,
    REELAY_PROGRAM,
    'record',
    '-o',
    TAPE,
    '--',
    process.execPath,
    SERVER_PROGRAM,
  ] as const
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
  tell(`   On the way: ${progress.length} progress messages, and the server asked "${questions[0]}"`)
  return recorded
}

export async function showDemoTape({ folder, tell }: DemoContext): Promise<void> {
  const inspection = inspectTape(await loadTape(join(folder, TAPE)))
  const size = `${inspection.frames} frames, plain JSON lines`
  printHeading(tell, '2. The tape.', `${size}; \`reelay inspect\` shows the exchanges:`)
  for (const line of exchangeTable(inspection)) tell(`   ${line}`)
}

export function showServerGone({ tell }: DemoContext, recorded: DemoSession): void {
  const pid = Number(/demo server ready, pid (\d+)/.exec(recorded.stderr)?.[1])
  requireTrue(pid > 0 && !isAlive(pid), 'the server ended with its client', recorded)
  printHeading(tell, '3. No server.', `Its process, ${pid}, is gone. From here on only the tape answers.`)
}

export async function serveFromTape(
  { folder, tell, signal }: DemoContext,
  recorded: DemoSession,
): Promise<void> {
  printHeading(tell, '4. Play.', 'The same client, with other request ids, talks to `reelay serve`:')
  const played = await runDemoSession({
    command: SERVE_COMMAND,
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
  tell('   All of it is equal, made-up values included: handshake, list, answers, progress, question.')
}

export async function showMiss({ folder, tell, signal }: DemoContext): Promise<void> {
  printHeading(
    tell,
    '5. Miss.',
    '"Bergen" instead of "Oslo" was never recorded. The tape says so, it does not guess:',
  )
  const calls = [{ tool: 'weather', args: { city: 'Bergen' } }]
  const missed = await runDemoSession({ command: SERVE_COMMAND, cwd: folder, calls, firstId: 0, signal })
  const report = missReportIn(missed.stderr)
  requireTrue(
    isMissOutcome(missed.received.answers[0]) && report.length > 0,
    'what was not recorded is a miss',
    missed,
  )
  requireTrue(missed.exitCode === 1, 'a miss ends with exit code 1', missed)
  for (const line of report) tell(styleText('yellow', `   ${line}`))
  tell('   The client got it as a JSON-RPC error, and `reelay serve` ended with exit code 1.')
}

export async function verifyServer({ folder, tell, signal }: DemoContext): Promise<void> {
  printHeading(
    tell,
    '6. Check.',
    'The server is back, and `reelay verify` is the client: it sends what is recorded.',
  )
  const server = [process.execPath, SERVER_PROGRAM]
  const command = [process.execPath, REELAY_PROGRAM, 'verify', TAPE, '--json', '--', ...server] as const
  const checked = await runVerify(command, { cwd: folder, signal })
  requireTrue(checked.exitCode === 0, 'the server still answers as recorded', checked)
  requireTrue(checked.sent === CALLS.length + 1, 'everything was sent', checked)
  const { sent, noise } = checked
  tell(
    `   ${String(sent)} requests, every answer as recorded. Left out are ${noise.length} texts: asked again,`,
  )
  tell('   the server said something else each time. A change would be named, with exit code 1.')
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
  const hint = stderr === '' ? undefined : `the last words on stderr were: ${stderr.trim()}`
  throw new ReelayError('UNEXPECTED', `the demo stopped: it is not true that ${claim}`, hint ? { hint } : {})
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false // no such process, which is what the story wants to hear
  }
}
