import { referenceServer } from '../interop/reference-server.ts'
import { listening, type HttpKind } from '../support/http-servers.ts'

/** server-everything over HTTP, on a free port; gone when the test is over. */
export async function everythingOverHttp(kind: HttpKind): Promise<URL> {
  const origin = await listening(referenceServer('server-everything', kind))
  return new URL(kind === 'sse' ? '/sse' : '/mcp', origin)
}
