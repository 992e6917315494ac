import { createInterface } from 'node:readline/promises'
import { ReelayError } from '../errors.ts'
import { visible } from '../wire/visible.ts'

/** What whoever sits at the terminal says of the values that look secret. */
export interface Reviewed {
  /** No secrets, this time. */
  readonly allowed: readonly string[]
  /** No secrets, in this project. */
  readonly always: readonly string[]
}

/** Where questions are asked. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  readonly isTerminal: boolean
}

const STANDARD: Terminal = {
  input: process.stdin,
  output: process.stderr,
  isTerminal: process.stdin.isTTY,
}

/** Asks about one value after the other; what is not answered is replaced. */
export async function review(
  values: readonly string[],
  { input, output, isTerminal }: Terminal = STANDARD,
): Promise<Reviewed> {
  if (!isTerminal)
    throw new ReelayError('USAGE', '--review asks on a terminal, and there is none', {
      hint: 'say what is no secret with --allow, or in the `redaction` section of reelay.config.yaml',
    })
  const answers = new Map<string, string>()
  const terminal = createInterface({ input, output })
  try {
    for (const [place, value] of values.entries()) {
      const question = `${place + 1} of ${values.length}: ${outline(value)}  replace it? [Y]es, [n]o, [a]llow always, [q]uit: `
      const answer = (await terminal.question(question)).trim().toLowerCase()
      if (answer === 'q')
        throw new ReelayError('USAGE', 'the review was left', { hint: 'nothing was written' })
      answers.set(value, answer)
    }
  } finally {
    terminal.close()
  }
  const said = (answer: string): readonly string[] => values.filter((value) => answers.get(value) === answer)
  return { allowed: [...said('n'), ...said('a')], always: said('a') }
}

/** Enough of a value to know it by, for whoever knows it. */
export function outline(value: string): string {
  const length = `${value.length} ${value.length === 1 ? 'character' : 'characters'}`
  if (value.length < 12) return `${visible(value.slice(0, 1))}… (${length})`
  return `${visible(value.slice(0, 4))}…${visible(value.slice(-2))} (${length})`
}
