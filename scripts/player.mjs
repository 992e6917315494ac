// A tape that is played, as a user starts it.
import { end, firstMatch, start } from './processes.mjs'
import { main } from './recorder.mjs'

/** The command of a server that plays a tape over stdio; a client that starts it for one call leaves the others over. */
export function serving(tape, as) {
  return [process.execPath, main, 'serve', tape, '--leftovers', 'note', ...(as ? ['--as', as] : [])]
}

/** Starts `reelay serve --http` or `--sse`; `url` is where the client goes. */
export async function startPlayer({ tape, transport, as }) {
  const child = start([...serving(tape, as), `--${transport}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [, url] = await firstMatch(child, child.stderr, /listening on (\S+)/)
  child.stderr.resume()
  return { url, stop: () => end(child) }
}
