import { connect, type Socket } from 'node:net'
import { TLSSocket, type SecureContext } from 'node:tls'
import type { HostAndPort } from './request-target.ts'

/** Looks at the first byte that a client sends, and leaves it where it is. */
export function peekFirstByte(socket: Socket, then: (byte: number) => void): void {
  const leave = (): void => void socket.end() // without a word
  const look = (): void => {
    const chunk = socket.read() as Buffer | null
    if (chunk === null) return
    socket.off('readable', look).off('end', leave).unshift(chunk)
    then(chunk[0] ?? 0)
  }
  socket.on('readable', look).on('end', leave)
}

/** Hands everything on, both ways; either side may end its half first. */
export function tunnelBytes(
  socket: Socket,
  { host, port }: HostAndPort,
  onError: (why: string) => void,
): Socket {
  const out = connect({ host, port, noDelay: true, allowHalfOpen: true })
  out.on('error', (error) => {
    if (out.bytesRead === 0) onError(error.message)
    socket.destroy()
  })
  socket.on('close', () => out.destroy())
  socket.pipe(out).pipe(socket)
  return out
}

/** Talks TLS to the client in the place of its server. */
export function terminateTls(socket: Socket, secureContext: SecureContext): TLSSocket {
  const inside = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] })
  inside.on('error', () => socket.destroy())
  return inside
}
