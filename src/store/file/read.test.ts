import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test } from 'vitest'
import { ReelayError } from '../../errors.ts'
import type { Frame } from '../../tape/frame.ts'
import { loadTape, openTape } from './read.ts'

const folder = mkdtempSync(join(tmpdir(), 'reelay-read-'))
afterAll(() => rmSync(folder, { recursive: true }))

const HEADER =
  '{"reelay":1,"id":"a","started":"2026-11-15T07:20:59.123Z","by":"reelay 0.1.0","servers":{"demo":{"transport":"stdio"}},"tags":{}}'
const PING =
  '{"n":1,"t":1,"server":"demo","conn":1,"dir":"c2s","msg":{"jsonrpc":"2.0","id":0,"method":"ping"}}'
const PONG = '{"n":2,"t":2,"server":"demo","conn":1,"dir":"s2c","msg":{"jsonrpc":"2.0","id":0,"result":{}}}'
const END = '{"n":3,"t":3,"event":"end","frames":3}'

test('a complete tape is read completely', async () => {
  const tape = await loadTape(fileOf([HEADER, PING, PONG, END]))
  expect(tape).toMatchObject({ frames: 3, ended: true, problems: [], strays: [] })
  expect(tape.turns.map(({ trigger, response }) => [trigger?.n, response?.n])).toEqual([[1, 2]])
  expect(tape.rest.map(({ n, kind }) => [n, kind])).toEqual([[3, 'event']])
  expect(tape.header.servers).toEqual({ demo: { transport: 'stdio' } })
})

test('a tape with only a header is valid', async () => {
  expect(await loadTape(fileOf([HEADER]))).toMatchObject({ frames: 0, turns: [], ended: false, problems: [] })
})

test('a half-written last line is reported with its number and dropped', async () => {
  const path = fileOf([HEADER, PING, PONG])
  truncateSync(path, readFileSync(path).length - 10)
  expect(await loadTape(path)).toMatchObject({
    frames: 1,
    ended: false,
    problems: [{ line: 3, why: CUT_OFF }],
  })
})

test('a last line without a line feed is dropped, even if it is valid', async () => {
  const path = fileOf([HEADER, PING, PONG, END])
  truncateSync(path, readFileSync(path).length - 1)
  expect(await loadTape(path)).toMatchObject({
    frames: 2,
    ended: false,
    problems: [{ line: 4, why: CUT_OFF }],
  })
})

test('broken lines are reported with their numbers, and the rest is read', async () => {
  const path = fileOf([HEADER, PING, '', 'oops', '{"n":7}', PONG, '\u0000', END])
  appendFileSync(path, Buffer.of(0xff, 0x0a))
  const tape = await loadTape(path)
  expect(tape.frames).toBe(3)
  expect(tape.problems).toEqual([
    { line: 4, why: 'not JSON' },
    { line: 5, why: '"t" is not a time in milliseconds' },
    { line: 7, why: 'not JSON' },
    { line: 8, why: 'the end frame counts 3 frames, but the tape has 6' },
    { line: 9, why: 'comes after the end of the tape' },
    { line: 9, why: 'not UTF-8' },
  ])
  expect(tape.ended).toBe(false)
})

test('frames out of order are kept and reported', async () => {
  const tape = await loadTape(fileOf([HEADER, PONG, PING, PONG.replace('"n":2', '"n":3')]))
  expect(tape.problems).toEqual([{ line: 3, why: 'frame 1 comes after frame 2' }])
  expect(tape.frames).toBe(3)
})

test('an end that contradicts the tape is reported', async () => {
  const lost = END.replace('"n":3', '"n":9').replace('"frames":3', '"frames":9,"lost":6')
  expect((await loadTape(fileOf([HEADER, PING, END]))).problems).toEqual([
    { line: 3, why: 'the end frame counts 3 frames, but the tape has 2' },
  ])
  expect((await loadTape(fileOf([HEADER, PING, END, END]))).problems).toEqual([
    { line: 3, why: 'the end frame counts 3 frames, but the tape has 2' },
    { line: 4, why: 'comes after the end of the tape' },
    { line: 4, why: 'frame 3 comes after frame 3' },
  ])
  expect((await loadTape(fileOf([HEADER, PING, PONG, lost]))).problems).toEqual([
    { line: 4, why: 'the recorder could not write 6 of 9 frames' },
  ])
  expect((await loadTape(fileOf([HEADER, '{"n":1,"t":1,"event":"end"}']))).problems).toEqual([
    { line: 2, why: 'the end frame has no count of frames' },
  ])
})

test('a tape that was edited on Windows is read: byte order mark, CRLF, blank lines', async () => {
  const path = fileOf([`\uFEFF${HEADER}\r`, '\r', `${PING}\r`, `${PONG}\r`, `${END}\r`])
  expect(await loadTape(path)).toMatchObject({ frames: 3, ended: true, problems: [] })
})

test('a tape can be read while it is being written', async () => {
  const path = fileOf([HEADER, PING])
  const reader = await openTape(path)
  expect((await framesOf(reader.frames())).map(({ n }) => n)).toEqual([1])
  appendFileSync(path, PONG)
  expect((await framesOf(reader.frames())).map(({ n }) => n)).toEqual([1])
  expect(reader.state).toEqual({ ended: false, problems: [{ line: 3, why: CUT_OFF }] })
  appendFileSync(path, `\n${END}\n`)
  expect((await framesOf(reader.frames())).map(({ n }) => n)).toEqual([1, 2, 3])
  expect(reader.state).toEqual({ ended: true, problems: [] })
})

test('a tape larger than a chunk is read in constant memory, and reading can stop at any frame', async () => {
  const path = fileOf([HEADER])
  const text = 'é'.repeat(1000)
  for (let i = 0; i < 20; i++) {
    const lines = Array.from({ length: 1000 }, (_, index) => {
      const n = i * 1000 + index + 1
      return `{"n":${n},"t":${n},"server":"demo","conn":1,"dir":"s2c","stderr":"${text}"}\n`
    })
    appendFileSync(path, lines.join(''))
  }
  const reader = await openTape(path)
  let [count, largest] = [0, 0]
  const before = liveBytes()
  for await (const frame of reader.frames()) {
    count = frame.n
    if (count % 2000 === 0) largest = Math.max(largest, liveBytes() - before)
  }
  expect(count).toBe(20_000)
  expect(largest).toBeLessThan(10_000_000) // of 40 MB
  for await (const frame of reader.frames()) if (frame.n === 5000) break
  expect(reader.state.problems).toEqual([])
})

test('the number of reported problems is limited', async () => {
  const { problems } = await loadTape(fileOf([HEADER, ...Array.from({ length: 3000 }, () => 'x')]))
  expect(problems.length).toBe(1001)
  expect(problems.at(-1)).toEqual({ line: 1002, why: 'further problems are not listed' })
})

test('the error for a missing tape says where to look', async () => {
  expect(await refusal(join(folder, 'nowhere.tape.jsonl'))).toEqual({
    code: 'TAPE_NOT_FOUND',
    message: 'there is no tape at <folder>/nowhere.tape.jsonl',
    hint: 'check the path; `reelay list` shows the tapes that have a name',
  })
  expect(await refusal(join(fileOf([HEADER]), 'below'))).toMatchObject({ code: 'TAPE_NOT_FOUND' })
})

test('a file that cannot be a tape is refused with the reason', async () => {
  mkdirSync(join(folder, 'folder.tape.jsonl'))
  expect(await refusal(join(folder, 'folder.tape.jsonl'))).toMatchObject({ code: 'TAPE_IS_A_FOLDER' })
  expect(await refusal(fileOf([]))).toMatchObject({ code: 'TAPE_EMPTY' })
  expect(await refusal(fileOf(['{"hello":1}']))).toMatchObject({ code: 'TAPE_NOT_OURS' })
  expect(await refusal(fileOf(['']))).toMatchObject({ code: 'TAPE_NOT_OURS' })
  expect((await refusal(fileOf(['{"jsonrpc":"2.0","id":0,"method":"initialize"}']))).message).toMatch(
    /not a Reelay tape: its first line is a JSON-RPC message$/,
  )
  expect((await refusal(fileOf(['{"reelay":2,"id":"b"}']))).message).toMatch(
    /: the tape has version 2, but this Reelay reads versions up to 1$/,
  )
  expect(await refusal(fileOf(['{"reelay":1}']))).toMatchObject({ code: 'TAPE_BROKEN' })
})

test('a binary file is refused, with and without line feeds', async () => {
  const png = newPath()
  writeFileSync(png, Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  expect(await refusal(png)).toMatchObject({ code: 'TAPE_NOT_OURS' })
  const zeros = newPath()
  writeFileSync(zeros, '')
  truncateSync(zeros, 8_000_000_000) // sparse: to read it whole would not end well
  expect((await refusal(zeros)).message).toMatch(/its first line does not end$/)
})

test('a truncated header is distinguished from a file that is not a tape', async () => {
  const path = newPath()
  writeFileSync(path, HEADER.slice(0, 60))
  expect(await refusal(path)).toMatchObject({ code: 'TAPE_BROKEN' })
  writeFileSync(path, HEADER)
  expect(await loadTape(path)).toMatchObject({ frames: 0, problems: [{ line: 1, why: CUT_OFF }] })
})

test.skipIf(process.platform === 'win32')('a path that leads in a circle cannot be read', async () => {
  const path = newPath()
  symlinkSync(path, path)
  expect(await refusal(path)).toMatchObject({ code: 'TAPE_UNREADABLE' })
})

const CUT_OFF = 'truncated: the file ends within this line, which is skipped'

let files = 0

function newPath(): string {
  return join(folder, `${++files}.tape.jsonl`)
}

function fileOf(lines: readonly string[]): string {
  const path = newPath()
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

async function framesOf(frames: AsyncIterable<Frame>): Promise<readonly Frame[]> {
  const all: Frame[] = []
  for await (const frame of frames) all.push(frame)
  return all
}

function liveBytes(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}

async function refusal(path: string): Promise<{ code: string; message: string; hint: string | undefined }> {
  try {
    await openTape(path)
  } catch (error) {
    if (!(error instanceof ReelayError)) throw error
    return { code: error.code, message: error.message.replace(folder, '<folder>'), hint: error.hint }
  }
  return { code: 'none', message: 'it was opened', hint: undefined }
}
