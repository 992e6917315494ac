import { chmodSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { resolve } from 'node:path'
import { ReelayError } from '../errors.ts'
import type { ListenAddress } from '../http/server/http-server.ts'
import {
  newControlAddress,
  removeControlAddress,
  writeControlAddress,
  type ControlAddress,
} from './control-files.ts'
import { startControlHttp } from './control-http.ts'
import { ControlSessions, type ControlSubject } from './control-sessions.ts'

export interface ControlServer {
  readonly address: ControlAddress
  /** The file with the address and the token. */
  readonly file: string
  /** Lets clients find the same socket by another tape too. */
  readonly publish: (tape: string) => void
  /** Disconnects all clients and removes the socket. May be called more than once. */
  readonly close: () => void
}

interface ControlServerOptions {
  readonly tape: string
  readonly subject: ControlSubject
  /** Also listens for HTTP on this address, which has to be loopback. */
  readonly http?: ListenAddress | undefined
}

/** Listens for commands as JSON lines, as described in `docs/reference/control.md`. */
export async function startControl({ tape, subject, http }: ControlServerOptions): Promise<ControlServer> {
  const address = newControlAddress(tape)
  const session = new ControlSessions(subject, address)
  const server = createServer((socket) => session.accept(socket))
  await listenOnSocket(server, address.socket)
  server.unref()
  const overHttp = http === undefined ? undefined : await startControlHttp(http, session)
  const published = overHttp === undefined ? address : { ...address, http: overHttp.origin }
  const addresses = [published]
  const file = writeControlAddress(published)
  let isClosed = false
  const close = (): void => {
    if (isClosed) return
    isClosed = true
    process.off('exit', close)
    session.close()
    server.close()
    overHttp?.close()
    for (const each of addresses) removeControlAddress(each)
  }
  const publish = (another: string): void => {
    const also = { ...published, tape: resolve(another) }
    addresses.push(also)
    writeControlAddress(also)
  }
  process.on('exit', close)
  return { address: published, file, publish, close }
}

async function listenOnSocket(server: Server, path: string): Promise<void> {
  await new Promise<void>((listening, reject) => {
    server.once('error', (cause) =>
      reject(
        new ReelayError('LISTEN_FAILED', `cannot listen on the control socket ${path}: ${cause.message}`, {
          hint: 'set REELAY_HOME to a folder on a local disk',
          cause,
        }),
      ),
    )
    server.listen(path, listening)
  })
  if (process.platform !== 'win32') chmodSync(path, 0o600)
}
