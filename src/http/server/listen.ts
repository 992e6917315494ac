import { createServer, type Server } from 'node:http'
import { ReelayError } from '../../errors.ts'
import { MAX_HEAD_BYTES } from '../headers.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** A server for the clients of a proxy. How long a request, an answer or a quiet stream may take is for its two ends to say, never for us. */
export function createHttpServer(): Server {
  return createServer({
    keepAlive: true,
    noDelay: true,
    maxHeaderSize: MAX_HEAD_BYTES,
    keepAliveTimeout: 65_000, // between two requests
    headersTimeout: 60_000,
    requestTimeout: 0,
  })
}

/** Begins to listen, and says where. */
export async function listenOn(server: Server, { host, port }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(host, port, error)))
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const name = host.includes(':') ? `[${host}]` : host
  return `http://${name}:${typeof address === 'object' ? address?.port : port}`
}

function listenError(host: string, port: number, cause: Error): ReelayError {
  const hint = 'choose another port, or leave it out to get a free one'
  return new ReelayError('LISTEN_FAILED', `cannot listen on ${host}:${port}: ${cause.message}`, {
    hint,
    cause,
  })
}
