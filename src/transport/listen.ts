import type { Server } from 'node:http'
import { ReelayError } from '../errors.ts'

export interface Listen {
  readonly host: string
  readonly port: number
}

/** How a proxy treats the sockets of its clients. */
export const LISTENER = { keepAlive: true, noDelay: true, keepAliveTimeout: 65_000 } as const

/** Begins to listen, and says where. */
export async function listenOn(server: Server, { host, port }: Listen): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(host, port, error)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const name = host.includes(':') ? `[${host}]` : host
  return `http://${name}:${typeof address === 'object' ? address?.port : port}`
}

function cannotListen(host: string, port: number, cause: Error): ReelayError {
  const hint = 'choose another port, or leave it out to get a free one'
  return new ReelayError('LISTEN_FAILED', `cannot listen on ${host}:${port}: ${cause.message}`, {
    hint,
    cause,
  })
}
