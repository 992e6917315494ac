/**
 * Whether a URL may hold a secret, which then does not belong into a command line: a query, a user, something that the client
 * puts in, or a part of the path that nobody would type.
 */
export function urlMayContainSecret(url: string): boolean {
  return /[?@$]/.test(url) || url.split(/[/.:]/).some(looksLikeToken)
}

function looksLikeToken(part: string): boolean {
  return part.length >= 12 && /\d/.test(part) && /[a-z]/i.test(part)
}
