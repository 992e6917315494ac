import { clientGoneCheck } from '../link/process/client-gone.ts'

const CLIENT_CHECK_MS = 250

/**
 * Aborts when the client on stdin and stdout is gone for good. Only the end of the input is told to us, and a client may still
 * read what it is owed; but one that was killed does not, and what it is owed may never come.
 */
export function abortWhenClientLeaves(): AbortSignal {
  const left = new AbortController()
  const isGone = clientGoneCheck()
  process.stdin.once('end', () => {
    const timer = setInterval(() => {
      if (!isGone()) return
      clearInterval(timer)
      left.abort('the client is gone')
    }, CLIENT_CHECK_MS)
    timer.unref()
  })
  return left.signal
}
