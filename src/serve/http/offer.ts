import { discardBody } from '../../http/server/served-exchange.ts'
import { MessageParser } from '../player/message-parser.ts'
import type { HttpRouter } from './http-router.ts'
import type { HttpTransport } from './places.ts'
import { readPostedMessage } from './posted-message.ts'
import { methodNotAllowed, sendHttpError } from './refusal.ts'
import type { ServedRecording } from './served-recording.ts'
import { SseEndpoint } from './sse-endpoint.ts'
import { StreamableEndpoint } from './streamable-endpoint.ts'

/** A server at a path. */
export interface MountedEndpoint {
  readonly front: HttpRouter
  readonly server: string
  readonly transport: HttpTransport
  readonly path: string
  readonly close: () => void
}

/** Gives a server its paths: `/mcp` and `/sse`, behind its name where there are several. */
export function mountEndpoint(
  front: HttpRouter,
  role: ServedRecording,
  { transport, isOnly }: { transport: HttpTransport; isOnly: boolean },
): MountedEndpoint {
  const { server } = role
  const base = isOnly ? '' : `/${encodeURIComponent(server)}`
  if (transport === 'http') {
    const endpoint = new StreamableEndpoint(role)
    front.route(`${base}/mcp`, (req, res) => endpoint.handle(req, res))
    return { front, server, transport, path: `${base}/mcp`, close: () => endpoint.close() }
  }
  const endpoint = new SseEndpoint(role, `${base}/messages`)
  const heard = new MessageParser()
  front.route(`${base}/sse`, (req, res) => {
    if (req.method === 'GET') return endpoint.open(req, res)
    discardBody(req)
    sendHttpError(res, methodNotAllowed('GET'))
  })
  front.route(`${base}/messages`, (req, res) => {
    if (req.method === 'POST')
      return readPostedMessage({ req, res, heard }, (posted) => void endpoint.post(posted))
    discardBody(req)
    sendHttpError(res, methodNotAllowed('POST'))
  })
  return { front, server, transport, path: `${base}/sse`, close: () => endpoint.close() }
}
