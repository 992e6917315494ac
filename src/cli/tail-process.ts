import { spawn, type ChildProcess } from 'node:child_process'

/** How long a session that is over may wait for the last lines to be shown. */
const TAIL_TIMEOUT_MS = 2000

/**
 * `reelay tail` beside a recorder, with its lines on our stderr. A process of its own: reading the tape back takes time and
 * memory that belong to the link. It ends with the tape, or with us.
 */
export class TailProcess {
  #isEnded = false
  #finished: Promise<void> = Promise.resolve()

  /** One tape after the other, in the order in which they are begun. */
  readonly follow = (path: string): void => {
    this.#finished = this.#finished.then(() => (this.#isEnded ? undefined : startTail(path)))
  }

  /** The last tape is written: what is still to be shown gets a moment. */
  async end(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const limit = new Promise<void>((resolve) => void (timer = setTimeout(resolve, TAIL_TIMEOUT_MS)))
    await Promise.race([this.#finished, limit])
    clearTimeout(timer)
    this.#isEnded = true
  }
}

function startTail(path: string): Promise<void> {
  const [node, program = ''] = [process.execPath, process.argv[1]]
  // Of a group of its own, so that Ctrl+C does not end it before the last exchange is shown.
  const child = spawn(node, [program, 'tail', path], {
    stdio: ['ignore', 2, 2, 'ipc'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  })
  unrefChild(child)
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve()) // then nothing is shown, which must not harm the recording
  })
}

/** The channel tells it when we are gone; nothing of it keeps us here. */
function unrefChild(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}
