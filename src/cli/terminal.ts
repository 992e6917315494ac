import { createInterface } from 'node:readline/promises'
import { ReelayError } from '../errors.ts'

/** Puts a question and gives the answer; undefined when whoever was asked has left. */
export type Ask = (question: string) => Promise<string | undefined>

/** Asks on the terminal. Whoever ends the input, or interrupts, has left. */
export async function onTerminal<Result>(talk: (ask: Ask) => Promise<Result>, need: Need): Promise<Result> {
  requireTerminal(need)
  const left = new AbortController()
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.once('close', () => left.abort())
  try {
    return await talk((question) => lines.question(question, { signal: left.signal }).catch(() => undefined))
  } finally {
    lines.close()
  }
}

/** What asks, and what to do where nobody can be asked. */
export interface Need {
  readonly needs: string
  readonly instead: string
}

export function requireTerminal({ needs, instead }: Need): void {
  if (process.stdin.isTTY) return
  throw new ReelayError('USAGE', `${needs} asks on a terminal, and stdin is none`, { hint: instead })
}
