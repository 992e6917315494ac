import { ReelayError } from '../errors.ts'

/** Parses the URL of a server. Throws unless it is an HTTP URL without a user name and password. */
export function parseServerUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw urlError(`${JSON.stringify(text)} is not a URL`)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw urlError(`${JSON.stringify(text)} is neither http: nor https:`)
  if (url.username !== '' || url.password !== '')
    throw urlError(
      'the URL contains a password',
      "let the client send the Authorization header, or add it: --header 'Authorization: Basic ${env.TOKEN}'",
    )
  return url
}

/** The host name of a URL, without the brackets around an IPv6 address. */
export function bareHost({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, '')
}

function urlError(
  message: string,
  hint = 'give the URL that the client would use, such as https://host/mcp',
): ReelayError {
  return new ReelayError('URL_INVALID', message, { hint })
}
