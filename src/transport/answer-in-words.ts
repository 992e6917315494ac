/** What to say of an HTTP answer in which there was no answer to the request. */
export function describeHttpResponse(status: number, body: string): string {
  const nothing = status < 300 ? ' and said nothing' : ''
  const said = body.trim() === '' ? nothing : `: ${body.trim().slice(0, 200)}`
  const hint = STATUS_HINTS[status] ?? (status >= 300 && status < 400 ? REDIRECT_HINT : '')
  return `the server answered HTTP ${status}${hint}${said}`
}

const STATUS_HINTS: Readonly<Record<number, string>> = {
  401: ' (the server wants a token: give it with --header)',
  404: ' (nothing is there, or the session is over)',
}
const REDIRECT_HINT = ' (it is at another address, which is not followed: name that one)'
