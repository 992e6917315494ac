import { isObject, member } from '../../json/parse.ts'
import type { Fault, FaultKind, InjectedHttpResponse } from '../fault.ts'

interface HttpForm {
  readonly description: string
  /** `text` is the real response, if the form needs it. */
  readonly response: (text: string) => InjectedHttpResponse
  readonly needsResponse?: true
}

const JSON_TYPE = { 'content-type': 'application/json' }

const FORMS: Readonly<Record<string, HttpForm>> = {
  unauthorized: statusForm(401, {
    'www-authenticate': 'Bearer resource_metadata="/.well-known/oauth-protected-resource"',
  }),
  'token-expired': statusForm(401, {
    'www-authenticate': 'Bearer error="invalid_token", error_description="The access token expired"',
  }),
  forbidden: statusForm(403),
  'no-session': statusForm(404),
  'method-not-allowed': statusForm(405, { allow: 'GET' }),
  'not-acceptable': statusForm(406),
  'too-many-requests': statusForm(429, { 'retry-after': '1' }),
  'server-error': statusForm(500),
  'bad-gateway': statusForm(502),
  unavailable: statusForm(503, { 'retry-after': '1' }),
  // To the same address, so that no client is sent to another host.
  redirect: statusForm(307, { location: '?reelay-redirected=1' }),
  'wrong-type': {
    description: 'is answered with the content type text/html',
    needsResponse: true,
    response: (body) => ({ status: 200, headers: { 'content-type': 'text/html' }, body }),
  },
  'broken-gzip': {
    description: 'is answered with a body that is not the gzip it claims to be',
    needsResponse: true,
    response: (body) => ({ status: 200, headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body }),
  },
  'duplicate-session': {
    description: 'is answered with two session ids',
    needsResponse: true,
    response: (body) => ({
      status: 200,
      headers: { ...JSON_TYPE, 'mcp-session-id': ['reelay-session-1', 'reelay-session-2'] },
      body,
    }),
  },
  empty: {
    description: 'is answered with HTTP 200 and no body',
    response: () => ({ status: 200, headers: JSON_TYPE, body: '' }),
  },
}

function statusForm(code: number, headers: Readonly<Record<string, string>> = {}): HttpForm {
  return {
    description: `is answered with HTTP ${code}`,
    response: () => ({ status: code, headers, body: '' }),
  }
}

/** Ends the HTTP exchange with a status instead of a message, or with a damaged response. */
export const http: FaultKind = {
  name: 'http',
  help: 'End the HTTP exchange with a status, or damage the HTTP response',
  example: 429,
  expects: `${Object.keys(FORMS).join(', ')}; or a status from 400 to 599, or status, headers and body`,
  variants: Object.keys(FORMS),
  parse: (value) => {
    const form = typeof value === 'string' && Object.hasOwn(FORMS, value) ? FORMS[value] : undefined
    if (form !== undefined) return httpFault(form)
    const response = parseHttpResponse(isObject(value) ? value : { status: value })
    if (response === undefined) return undefined
    return httpFault({ description: `is answered with HTTP ${response.status}`, response: () => response })
  },
}

function httpFault({ description, response, needsResponse }: HttpForm): Omit<Fault, 'kind'> {
  return {
    description,
    hidesResponse: true,
    needs: 'http',
    apply: ({ play, reply, connection }) => {
      const end = (text: string): void => {
        connection.http?.(response(text))
        reply(undefined)
      }
      if (needsResponse) play((text) => (text === undefined ? reply(undefined) : end(text)))
      else end('')
    },
  }
}

function parseHttpResponse(value: unknown): InjectedHttpResponse | undefined {
  const [status, headers, body] = ['status', 'headers', 'body'].map((name) => member(value, name))
  if (!Number.isInteger(status) || Number(status) < 400 || Number(status) > 599) return undefined
  if (body !== undefined && typeof body !== 'string') return undefined
  if (headers !== undefined && !isObject(headers)) return undefined
  const entries = Object.entries(headers ?? {}).map(([name, text]) => [name, String(text)] as const)
  return { status: Number(status), headers: Object.fromEntries(entries), body: body ?? '' }
}
