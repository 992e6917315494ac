import type { Socket } from 'node:net'
import { MAX_HEAD_BYTES } from '../headers.ts'
import { UpstreamSocket } from '../../transport/upstream-socket.ts'

/** The sockets to one server; the last one that became free is the first to be used again. */
export class UpstreamPool {
  readonly #connect: () => Socket
  readonly #idleMs: number
  readonly #all = new Set<UpstreamSocket>()
  #free: UpstreamSocket[] = []

  constructor(dialServer: () => Socket, idleMs: number) {
    this.#connect = dialServer
    this.#idleMs = idleMs
  }

  acquire(): UpstreamSocket {
    const free = this.#free.pop()
    if (free === undefined) return this.#open()
    if (free.isReusable) return free
    free.destroy()
    return this.acquire()
  }

  close(): void {
    for (const socket of this.#all) socket.destroy()
  }

  #open(): UpstreamSocket {
    const socket = new UpstreamSocket(this.#connect(), {
      maxHeadBytes: MAX_HEAD_BYTES,
      idleMs: this.#idleMs,
      onFree: (free) => void this.#free.push(free),
      onGone: (gone) => this.#remove(gone),
    })
    this.#all.add(socket)
    return socket
  }

  #remove(gone: UpstreamSocket): void {
    this.#all.delete(gone)
    this.#free = this.#free.filter((each) => each !== gone)
  }
}
