import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { start, type Running } from './recorder.ts'

/** Whether programs can be run at a terminal here: those of Linux are known to be. */
export const HAS_TERMINALS: boolean = process.platform === 'linux'

export interface AtTerminal extends Running {
  /** Resolves when it has said this. */
  readonly said: (words: string) => Promise<void>
}

/** Starts a program as somebody at a terminal does; what is written to its stdin is typed. */
export function atTerminal(command: readonly string[]): AtTerminal {
  if (spawnSync('script', ['--version']).status !== 0)
    throw new Error('this test needs the program `script` (Debian: apt-get install bsdutils)')
  const line = command.map((word) => `'${word}'`).join(' ')
  const run = start(['script', '--quiet', '--return', '--flush', '--command', `exec ${line}`, '/dev/null'])
  const said = async (words: string): Promise<void> => {
    while (!run.stdout().includes(words)) await once(run.child.stdout, 'data')
  }
  return { ...run, said }
}
