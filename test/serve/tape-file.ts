import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { encodeFrame } from '../../src/tape/codec.ts'
import { encodeHeader } from '../../src/tape/header.ts'
import { framesOf, tapeOf, type Said } from '../support/tape-of.ts'

/** A tape file in a folder of its own, both gone after the test. */
export function tapeFile(...said: readonly Said[]): string {
  const n = said.length + 1
  return writeTape([
    ...linesOf(said),
    encodeFrame({ kind: 'event', n, t: n, event: 'end', details: { frames: n } }),
    '',
  ])
}

/** A tape whose recording was cut off in the middle of a line. */
export function tornTapeFile(...said: readonly Said[]): string {
  return writeTape([...linesOf(said), '{"n":99,"t":1,"ser'])
}

/** A file in the folder of a tape. */
export function fileBeside(tape: string, name: string, text: string): string {
  const path = join(dirname(tape), name)
  writeFileSync(path, text)
  return path
}

function linesOf(said: readonly Said[]): readonly string[] {
  return [encodeHeader(tapeOf(...said).header), ...framesOf(said).map(encodeFrame)]
}

function writeTape(lines: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-serve-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'made-up.tape.jsonl')
  writeFileSync(path, lines.join('\n'))
  return path
}
