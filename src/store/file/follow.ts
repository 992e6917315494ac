import { watch } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Frame } from '../../tape/frame.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { openTapeWith } from './read.ts'

const CHUNK_BYTES = 256 * 1024
const SETTLE_MS = 20
const POLL_MS = 250 // for file systems that report no changes, such as some network disks

/** A tape that may still be growing. */
export interface FollowedTape {
  readonly header: TapeHeader
  /** Yields frames as they are written, until the end frame, or until the signal is aborted. */
  frames(): AsyncGenerator<Frame>
}

/** Opens an existing tape and reads it while it grows. */
export async function followTape(path: string, signal: AbortSignal): Promise<FollowedTape> {
  const reader = await openTapeWith(path, (file) => growingChunks(file, signal))
  return {
    header: reader.header,
    async *frames() {
      for await (const frame of reader.frames()) {
        yield frame
        if (frame.kind === 'event' && frame.event === 'end') return
      }
    },
  }
}

/**
 * Yields the bytes of a file as they are written. A recorder may take back a line right after writing it, so bytes are used only
 * if they were already there at the previous check.
 */
async function* growingChunks(path: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  const changes = new FileChanges(path, signal)
  try {
    let seen = 0
    for (let at = 0; !signal.aborted;) {
      const { size } = await file.stat()
      const settled = Math.min(seen, size)
      seen = size
      if (settled > at) {
        const chunk = await readAt(file, at, Math.min(settled - at, CHUNK_BYTES))
        at += chunk.length
        yield chunk
      } else if (size > at) await delay(SETTLE_MS)
      else await changes.waitForChange()
    }
  } finally {
    changes.close()
    await file.close()
  }
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, at)
  return buffer.subarray(0, bytesRead)
}

/** Watches a file for changes. */
class FileChanges {
  readonly #watcher: { close(): void } | undefined
  readonly #signal: AbortSignal
  readonly #onChange = (): void => this.#wake?.()
  #wake: (() => void) | undefined

  constructor(path: string, signal: AbortSignal) {
    this.#signal = signal
    this.#watcher = startWatch(path, this.#onChange)
    signal.addEventListener('abort', this.#onChange)
  }

  /** Resolves on a change, after the polling interval, and when the signal is aborted. */
  async waitForChange(): Promise<void> {
    if (this.#signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  close(): void {
    this.#watcher?.close()
    this.#signal.removeEventListener('abort', this.#onChange)
  }
}

function startWatch(path: string, onChange: () => void): { close(): void } | undefined {
  try {
    return watch(path, { persistent: false }, onChange).on('error', () => {})
  } catch {
    return undefined // the system allows no more watchers: polling is enough
  }
}
