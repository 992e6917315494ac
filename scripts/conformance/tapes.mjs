// What the tapes of a recorded run must be.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from '../recorder.mjs'

/** What is wrong with the tapes of a folder, in words; nothing when as many as wanted are there, each whole and with a request. */
export function troublesIn(folder, wanted) {
  const tapes = readdirSync(folder).map((name) => join(folder, name))
  const missing = tapes.length === wanted ? [] : [`${tapes.length} tapes of ${wanted} are in ${folder}`]
  const empty = tapes.filter((tape) => requestsOn(tape) === 0).map((tape) => `${tape} holds no request`)
  return [...missing, ...empty, ...tapes.flatMap((tape) => inspect(tape).troubles)]
}

/** How many requests the recorder handed to a server, by its tape. */
export function requestsOn(tape) {
  const lines = readFileSync(tape, 'utf8').split('\n')
  const count = (start) => lines.filter((line) => start.test(line)).length
  return count(/^\{[^{]*"http":\{"method":/) - count(/^\{[^{]*"event":"unreachable"/)
}
