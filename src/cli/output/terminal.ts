import { createInterface } from 'node:readline/promises'
import { ReelayError } from '../../errors.ts'

/** Puts a question and gives the answer; undefined when whoever was asked has left. */
export type AskQuestion = (question: string) => Promise<string | undefined>

/** Asks on the terminal. Whoever ends the input, or interrupts, has left. */
export async function withTerminal<Result>(
  talk: (ask: AskQuestion) => Promise<Result>,
  need: TerminalNeed,
): Promise<Result> {
  requireTerminal(need)
  return withPrompt(talk)
}

/** Asks one question on the terminal, until nobody waits for the answer any more. */
export async function askOneQuestion(question: string, stop: AbortSignal): Promise<string | undefined> {
  return stop.aborted ? undefined : withPrompt((ask) => ask(question), stop)
}

async function withPrompt<Result>(
  talk: (ask: AskQuestion) => Promise<Result>,
  stop?: AbortSignal,
): Promise<Result> {
  const left = new AbortController()
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const leave = (): void => lines.close()
  lines.once('close', () => left.abort())
  lines.once('SIGINT', () => {
    leave()
    process.emit('SIGINT', 'SIGINT') // while lines are edited, Ctrl+C is a key, and no signal comes of it
  })
  stop?.addEventListener('abort', leave, { once: true })
  try {
    return await talk((question) => lines.question(question, { signal: left.signal }).catch(() => undefined))
  } finally {
    stop?.removeEventListener('abort', leave)
    leave()
  }
}

/** What asks, and what to do where nobody can be asked. */
interface TerminalNeed {
  readonly needs: string
  readonly instead: string
}

export function requireTerminal({ needs, instead }: TerminalNeed): void {
  if (process.stdin.isTTY) return
  throw new ReelayError('USAGE', `${needs} asks on a terminal, and stdin is none`, { hint: instead })
}
