import { subscribe } from 'node:diagnostics_channel'
import { basename } from 'node:path'
import type { TapeRead } from '../../store/file/read.ts'
import { truncateText } from '../../text.ts'

let isShown = false
let shownAt = 0

/** Shows one line that is replaced by the next one. In a pipe nothing is shown, and short work shows nothing either. */
export function showProgress(text: string): void {
  const now = performance.now() // milliseconds since the program was started
  if (!process.stderr.isTTY || now < QUIET_MS || now - shownAt < REFRESH_MS) return
  const width = (process.stderr.columns || DEFAULT_WIDTH) - 1
  process.stderr.write(`\r${truncateText(text, width)}${CLEAR_TO_END}\r`) // whatever is printed next begins at the left
  isShown = true
  shownAt = now
}

/** Removes the line before anything else is printed. */
export function clearProgress(): void {
  if (isShown) process.stderr.write(`\r${CLEAR_TO_END}`)
  isShown = false
}

/** Shows how much of a tape has been read, whichever part of a command reads it. */
export function showTapeReading(): void {
  if (!process.stderr.isTTY) return
  // `store/file/read.ts` publishes here. It is not imported, because help and errors do without it.
  subscribe('reelay:tape-read', (message) => {
    const { path, bytes, of } = message as TapeRead
    if (bytes >= of) clearProgress()
    else showProgress(`reading ${basename(path)}: ${Math.floor((100 * bytes) / of)} %`)
  })
}

const QUIET_MS = 200
const REFRESH_MS = 100
const DEFAULT_WIDTH = 80
const CLEAR_TO_END = '\u001b[K'
