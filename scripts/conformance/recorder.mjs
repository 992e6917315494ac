// The recorder in front of a URL, and what its tape must be afterwards.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../run.mjs'
import { end, firstMatch, start } from './processes.mjs'

// Another build can be put to the test too, for example an installed one.
export const main = process.env.REELAY_MAIN ?? join(root, 'dist', 'cli', 'main.js')

/** Starts `reelay record --url`; `url` is where the client goes, `stop` ends the tape. */
export async function startRecorder({ url, tape }) {
  const child = start(main, ['record', '--url', url, '-o', tape, '-q'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [, address] = await firstMatch(child, child.stderr, /give this URL to the client: (\S+)/)
  child.stderr.pipe(process.stderr)
  return { url: address, stop: () => end(child) }
}

/** What is wrong with a tape, in words; nothing when it is whole. */
export function troublesOf(tape) {
  const args = [main, 'inspect', '--json', tape]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { maxBuffer: 2 ** 30 })
  if (status !== 0) return [`${tape} does not open: ${stderr}`]
  const { tape: facts, problems, unknownFrames } = JSON.parse(stdout)
  return [
    ...(facts.ended ? [] : [`${tape} has no end`]),
    ...problems.map((problem) => `${tape}: ${JSON.stringify(problem)}`),
    ...(unknownFrames === 0 ? [] : [`${tape} has ${unknownFrames} frames of an unknown kind`]),
  ]
}

/** How many requests the recorder let through, by its tape. */
export function requestsOn(tape) {
  const frames = readFileSync(tape, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return frames.filter(({ http }) => http?.method !== undefined).length
}
