import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'

/** A terminal in tmux that runs one program. */
export interface TmuxTerminal {
  /** Types a text and presses Enter. */
  readonly type: (line: string) => void
  /** Presses keys by their tmux names, such as `Tab`, `Up` or `C-c`. */
  readonly press: (...keys: readonly string[]) => void
  readonly screen: () => string
  /** Waits until the screen shows this. */
  readonly shows: (pattern: RegExp) => Promise<void>
}

/** Starts a program in a terminal of this size. The terminal is closed when the test is over. */
export function openTmux(
  command: readonly string[],
  { env = {}, width = 140, height = 60 }: { env?: NodeJS.ProcessEnv; width?: number; height?: number } = {},
): TmuxTerminal {
  if (spawnSync('tmux', ['-V']).status !== 0)
    throw new Error('this test needs the program tmux (Debian: apt-get install tmux)')
  const socket = `reelay-${randomUUID()}`
  const whole = { ...process.env, TERM: 'xterm', TMUX: undefined, NO_COLOR: '1', ...env }
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-L', socket, ...args], { env: whole, encoding: 'utf8' })
  // The pane stays when the program ends, so that its last words can be read.
  const line = command.map((word) => `'${word}'`).join(' ')
  tmux(
    '-f',
    '/dev/null',
    'new-session',
    '-d',
    '-x',
    String(width),
    '-y',
    String(height),
    `${line}; echo "exit code $?"; exec sleep 600`,
  )
  onTestFinished(() => void spawnSync('tmux', ['-L', socket, 'kill-server']))
  const screen = (): string => tmux('capture-pane', '-p')
  return {
    type: (text) => {
      tmux('send-keys', '-l', '--', text)
      tmux('send-keys', 'Enter')
    },
    press: (...keys) => void tmux('send-keys', ...keys),
    screen,
    shows: async (pattern) => {
      await expect.poll(screen, { timeout: 30_000, interval: 50 }).toMatch(pattern)
    },
  }
}
