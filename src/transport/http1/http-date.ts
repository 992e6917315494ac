let cachedSecond = 0
let cachedDate = ''

/** Now, as HTTP writes it. */
export function httpDate(): string {
  const now = Math.floor(Date.now() / 1000)
  if (now !== cachedSecond) {
    cachedSecond = now
    cachedDate = new Date(now * 1000).toUTCString()
  }
  return cachedDate
}
