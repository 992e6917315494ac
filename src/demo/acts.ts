import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, styleText } from 'node:util'
import { ReelayError } from '../errors.ts'
import { exchangeLines } from '../report/inspect-exchanges.ts'
import { inspectTape } from '../report/inspect.ts'
import { loadTape } from '../store/read.ts'
import { visit, type Call, type Visit } from './client.ts'
import { answerText, isMiss, isWhole, missReport, toolNames } from './heard.ts'
import { checkLive } from './live-check.ts'

export interface Stage {
  readonly folder: string
  readonly tell: (line: string) => void
  readonly signal: AbortSignal
}

// This code runs from dist/demo or, packed into the program, from dist/cli: paths start at their common parent.
const MAIN = fileURLToPath(new URL('../cli/main.js', import.meta.url))
const SERVER = fileURLToPath(new URL('../demo/server.js', import.meta.url))

const TAPE = 'demo.tape.jsonl'
const SERVE = [process.execPath, MAIN, 'serve', TAPE] as const

const CALLS: readonly Call[] = [
  { tool: 'weather', args: { city: 'Oslo' } },
  { tool: 'count_words', args: { text: 'to be or not to be' } },
  { tool: 'forecast_trip', args: { to: 'Lisbon' } },
]

export async function recordSession({ folder, tell, signal }: Stage): Promise<Visit> {
  heading(tell, '1. Record.', 'A client and a server talk as always, with `reelay record` between them.')
  const command = [process.execPath, MAIN, 'record', '-o', TAPE, '--', process.execPath, SERVER] as const
  const recorded = await visit({ command, cwd: folder, calls: CALLS, firstId: 0, signal })
  const { list, progress, questions } = recorded.heard
  demand(isWhole(recorded.heard), 'the server answered, reported progress and asked back', recorded)
  demand(recorded.exitCode === 0, 'the recorder ended with the exit code of the server', recorded)
  tell(`   The server offers ${toolNames(list).join(', ')}. Three calls at once:`)
  tellAnswers(tell, recorded)
  tell(`   On the way: ${progress.length} progress messages, and the server asked "${questions[0]}"`)
  return recorded
}

export async function showTape({ folder, tell }: Stage): Promise<void> {
  const inspection = inspectTape(await loadTape(join(folder, TAPE)))
  const size = `${inspection.frames} frames, plain JSON lines`
  heading(tell, '2. The tape.', `${size}; \`reelay inspect\` shows the exchanges:`)
  for (const line of exchangeLines(inspection)) tell(`   ${line}`)
}

export function showServerGone({ tell }: Stage, recorded: Visit): void {
  const pid = Number(/demo server ready, pid (\d+)/.exec(recorded.stderr)?.[1])
  demand(pid > 0 && !isAlive(pid), 'the server ended with its client', recorded)
  heading(tell, '3. No server.', `Its process, ${pid}, is gone. From here on only the tape answers.`)
}

export async function playBack({ folder, tell, signal }: Stage, recorded: Visit): Promise<void> {
  heading(tell, '4. Play.', 'The same client, with other request ids, talks to `reelay serve`:')
  const played = await visit({ command: SERVE, cwd: folder, calls: CALLS, firstId: 1000, signal })
  demand(isDeepStrictEqual(played.heard, recorded.heard), 'the tape gave the answers of the server', played)
  demand(played.exitCode === 0, 'the tape was played to its end', played)
  tellAnswers(tell, played)
  tell('   All of it is equal, made-up values included: handshake, list, answers, progress, question.')
}

export async function missOnPurpose({ folder, tell, signal }: Stage): Promise<void> {
  heading(
    tell,
    '5. Miss.',
    '"Bergen" instead of "Oslo" was never recorded. The tape says so, it does not guess:',
  )
  const calls = [{ tool: 'weather', args: { city: 'Bergen' } }]
  const missed = await visit({ command: SERVE, cwd: folder, calls, firstId: 0, signal })
  const report = missReport(missed.stderr)
  demand(isMiss(missed.heard.answers[0]) && report.length > 0, 'what was not recorded is a miss', missed)
  demand(missed.exitCode === 1, 'a miss ends with exit code 1', missed)
  for (const line of report) tell(styleText('yellow', `   ${line}`))
  tell('   The client got it as a JSON-RPC error, and `reelay serve` ended with exit code 1.')
}

export async function checkServer({ folder, tell, signal }: Stage): Promise<void> {
  heading(
    tell,
    '6. Check.',
    'The server is back, and `reelay verify` is the client: it sends what is recorded.',
  )
  const server = [process.execPath, SERVER]
  const command = [process.execPath, MAIN, 'verify', TAPE, '--json', '--', ...server] as const
  const checked = await checkLive(command, { cwd: folder, signal })
  demand(checked.exitCode === 0, 'the server still answers as recorded', checked)
  demand(checked.sent === CALLS.length + 1, 'everything was sent', checked)
  const { sent, noise } = checked
  tell(
    `   ${String(sent)} requests, every answer as recorded. Left out are ${noise.length} texts: asked again,`,
  )
  tell('   the server said something else each time. A change would be named, with exit code 1.')
}

function heading(tell: Stage['tell'], title: string, text: string): void {
  tell('')
  tell(`${styleText('bold', title)} ${text}`)
}

function tellAnswers(tell: Stage['tell'], { heard }: Visit): void {
  for (const [index, { tool }] of CALLS.entries())
    tell(`     ${tool.padEnd(14)} ${styleText('green', answerText(heard.answers[index]) ?? '')}`)
}

function demand(isTrue: boolean, claim: string, { stderr }: Pick<Visit, 'stderr'>): void {
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
