import { once } from 'node:events'
import {
  request as httpRequest,
  type ClientRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddedHeader } from '../headers.ts'

/** What became of one small request. */
export type HttpProbeResult =
  | { readonly kind: 'answered'; readonly status: number; readonly location: string | undefined }
  | { readonly kind: 'refused' }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | { readonly kind: 'unreachable'; readonly why: string }

interface HttpProbeOptions {
  readonly headers: readonly AddedHeader[]
  readonly body: string
  readonly timeoutMs: number
}

/** Posts a body once, on a connection of its own, and leaves when the head of the answer is there. */
export async function probeHttp(url: URL, options: HttpProbeOptions): Promise<HttpProbeResult> {
  const { timeoutMs } = options
  const left = AbortSignal.timeout(timeoutMs)
  try {
    const request = postRequest(url, options, left)
    request.on('error', () => {}) // what becomes of it when the head is there is nobody's concern
    const [{ statusCode: status = 0, headers }] = (await once(request, 'response')) as [IncomingMessage]
    request.destroy()
    return { kind: 'answered', status, location: headers.location }
  } catch (error) {
    return left.aborted ? { kind: 'timeout', seconds: timeoutMs / 1000 } : probeFailure(error)
  }
}

function postRequest(url: URL, { headers, body }: HttpProbeOptions, signal: AbortSignal): ClientRequest {
  const options: RequestOptions = {
    method: 'POST',
    agent: false,
    signal,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
  }
  return (url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options)).end(body)
}

function probeFailure(error: unknown): HttpProbeResult {
  const { code = '', message = '' } = Object(error) as { code?: unknown; message?: unknown }
  if (code === 'ECONNREFUSED') return { kind: 'refused' }
  return { kind: 'unreachable', why: String(message) || String(code) }
}
