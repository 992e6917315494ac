import { connect, type Socket } from 'node:net'
import { TLSSocket, type SecureContext } from 'node:tls'
import type { Authority } from './request-target.ts'

/** Looks at the first byte that a client sends, and leaves it where it is. */
export function firstByte(socket: Socket, then: (byte: number) => void): void {
  socket.once('readable', () => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return void socket.end() // the client left without a word
    socket.unshift(chunk)
    then(chunk[0] ?? 0)
  })
}

/** Hands everything on, both ways, and ends both when one ends. */
export function relayUntouched(
  socket: Socket,
  { host, port }: Authority,
  onError: (why: string) => void,
): Socket {
  const out = connect({ host, port, noDelay: true })
  out.on('error', (error) => {
    if (out.connecting || out.bytesRead === 0) onError(error.message)
  })
  out.on('close', () => socket.destroy())
  socket.on('close', () => out.destroy())
  socket.pipe(out).pipe(socket)
  return out
}

/** Talks TLS to the client in the place of its server. */
export function terminate(socket: Socket, secureContext: SecureContext): TLSSocket {
  const inside = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  inside.on('error', () => socket.destroy())
  return inside
}
