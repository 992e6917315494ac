// A tape that is played, as a user starts it.
import { end, firstMatch, start } from './processes.mjs'
import { main } from './recorder.mjs'

/** The command of a server that plays a tape over stdio; a client that starts it for one call leaves the others over. */
export function serving(tape) {
  return [process.execPath, main, 'serve', tape, '--leftovers', 'note']
}

/** Starts `reelay serve --http` or `--sse`; `url` is where the client goes. */
export async function startPlayer({ tape, transport }) {
  const child = start([...serving(tape), `--${transport}`], { stdio: ['ignore', 'ignore', 'pipe'] })
  const [, url] = await firstMatch(child, child.stderr, /listening on (\S+)/)
  child.stderr.resume()
  return { url, stop: () => end(child) }
}
