// The recorder as a user starts it, and what its tapes say afterwards.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { end, firstMatch, start } from './processes.mjs'
import { root } from './run.mjs'

// Another build can be put to the test too, for example an installed one.
export const main = process.env.REELAY_MAIN ?? join(root, 'dist', 'cli', 'main.js')

/** Starts `reelay record --url`; `url` is where the client goes, `stop` ends the tape. */
export async function startRecorder({ url, tape, env = process.env }) {
  const child = start([process.execPath, main, 'record', '--numbered', '--url', url, '-o', tape, '-q'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [, address] = await firstMatch(child, child.stderr, /give this URL to the client: (\S+)/)
  child.stderr.pipe(process.stderr)
  return { url: address, stop: () => end(child) }
}

/** What to put before the command of a server that is to be recorded over stdio. */
export function recording(tape) {
  return [process.execPath, main, 'record', '-q', '--numbered', '-o', tape, '--']
}

/** What to put before the command of a client that is to be recorded with `reelay record --forward`. */
export function forwarding(tape) {
  return [process.execPath, main, 'record', '--numbered', '--forward', '-q', '-o', tape, '--']
}

/** Makes the local CA with which a forward proxy looks into HTTPS. */
export function createCa() {
  const { status, stderr } = spawnSync(process.execPath, [main, 'ca', 'create'])
  if (status !== 0) throw new Error(`no local CA: ${stderr}`)
}

/** What a tape holds, and what is wrong with it, in words: nothing when it is whole. */
export function inspect(tape) {
  const args = [main, 'inspect', '--json', tape]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { maxBuffer: 2 ** 30 })
  if (status !== 0) return { exchanges: [], troubles: [`${tape} does not open: ${stderr}`] }
  const { tape: facts, exchanges, problems, unknownFrames } = JSON.parse(stdout)
  const troubles = [
    ...(facts.ended ? [] : [`${tape} has no end`]),
    ...problems.map((problem) => `${tape}: ${JSON.stringify(problem)}`),
    ...(unknownFrames === 0 ? [] : [`${tape} has ${unknownFrames} frames of an unknown kind`]),
  ]
  return { exchanges, troubles }
}
