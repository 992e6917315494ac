let second = 0
let text = ''

/** Now, as HTTP writes it. */
export function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== second) {
    second = now
    text = new Date(now * 1000).toUTCString()
  }
  return text
}
