import { leave } from '../../transport/http1/exchange.ts'
import { HeardTexts } from '../heard-texts.ts'
import type { Front } from './front.ts'
import type { HttpTransport } from './places.ts'
import { readPosted } from './posted.ts'
import { notAllowed, refuse } from './refusal.ts'
import type { Role } from './role.ts'
import { SseEndpoint } from './sse-endpoint.ts'
import { StreamableEndpoint } from './streamable-endpoint.ts'

/** A server at a path. */
export interface Offer {
  readonly front: Front
  readonly server: string
  readonly transport: HttpTransport
  readonly path: string
  readonly close: () => void
}

/** Gives a server its paths: `/mcp` and `/sse`, behind its name where there are several. */
export function offer(
  front: Front,
  role: Role,
  { transport, isOnly }: { transport: HttpTransport; isOnly: boolean },
): Offer {
  const { server } = role
  const base = isOnly ? '' : `/${encodeURIComponent(server)}`
  if (transport === 'http') {
    const endpoint = new StreamableEndpoint(role)
    front.on(`${base}/mcp`, (req, res) => endpoint.handle(req, res))
    return { front, server, transport, path: `${base}/mcp`, close: () => endpoint.close() }
  }
  const endpoint = new SseEndpoint(role, `${base}/messages`)
  const heard = new HeardTexts()
  front.on(`${base}/sse`, (req, res) => {
    if (req.method === 'GET') return endpoint.open(req, res)
    leave(req)
    refuse(res, notAllowed('GET'))
  })
  front.on(`${base}/messages`, (req, res) => {
    if (req.method === 'POST') return readPosted({ req, res, heard }, (posted) => void endpoint.post(posted))
    leave(req)
    refuse(res, notAllowed('POST'))
  })
  return { front, server, transport, path: `${base}/sse`, close: () => endpoint.close() }
}
