import { createInterface } from 'node:readline/promises'
import { ReelayError } from '../../errors.ts'

/** Asks a question. Returns `undefined` if the user ended the input. */
export type AskQuestion = (question: string) => Promise<string | undefined>

/** Runs a dialogue on the terminal. Ctrl+C and the end of the input end it. */
export async function withTerminal<Result>(
  talk: (ask: AskQuestion) => Promise<Result>,
  need: TerminalNeed,
): Promise<Result> {
  requireTerminal(need)
  return withPrompt(talk)
}

/** Asks one question on the terminal, until `stop` aborts. */
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

/** The option that needs a terminal, and what to use without one. */
interface TerminalNeed {
  readonly needs: string
  readonly instead: string
}

export function requireTerminal({ needs, instead }: TerminalNeed): void {
  if (process.stdin.isTTY) return
  throw new ReelayError('USAGE', `${needs} needs a terminal, and stdin is not one`, { hint: instead })
}
