// SIGKILL to the recorder right after the last answer: is everything that was forwarded on the tape? And how long is a message
// missing that is forwarded first, because it is long and may contain a secret? `npm run attack -- kill` tries more loads.
import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compile, goal, here, median, reelay, scratch } from './measure.mjs'

const CALLS = 1000

export async function killRecorder({ rounds }) {
  const echo = compile('echo')
  console.log(`\nSIGKILL to the recorder on the last of ${CALLS} answers, ${rounds} times`)
  let lost = 0
  for (let round = 0; round < rounds; round++) lost += await killOnce(echo)
  console.log(
    '\nfrom the moment the client has a message with a secret until it is on the tape (0: it is there before)',
  )
  for (const size of [1000, 10_000, 30_000, 100_000, 300_000, 1_000_000])
    console.log(
      `  ${size.toLocaleString('en').padStart(9)} bytes: ${(await missingFor(size, rounds)).toFixed(1)} ms`,
    )
  return [goal('messages lost', lost, 0, 'at most')]
}

async function killOnce(echo) {
  const tape = join(scratch, 'kill.tape.jsonl')
  rmSync(tape, { force: true })
  const child = spawn(process.execPath, [reelay, 'record', '-q', '--numbered', '-o', tape, '--', echo], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const send = (id) =>
    child.stdin.write(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"${'x'.repeat(100)}"}}}\n`,
    )
  child.stdin.on('error', () => {})
  let answers = 0
  let rest = ''
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()
    for (let line = 0; line < lines.length; line++) {
      if (++answers === CALLS) child.kill('SIGKILL')
      else if (answers < CALLS) send(answers)
    }
  })
  send(0)
  await new Promise((resolve) => child.on('exit', resolve))
  const messages = readFileSync(tape, 'utf8').match(/"jsonrpc"/g)?.length ?? 0
  return 2 * CALLS - messages
}

/** The median time, in milliseconds, for which a message is not on the tape after its client has received it. */
async function missingFor(size, rounds) {
  const tape = join(scratch, 'window.tape.jsonl')
  rmSync(tape, { force: true })
  const server = join(here, '..', 'scripts', 'attack', 'marking-server.mjs')
  const child = spawn(
    process.execPath,
    [reelay, 'record', '-q', '-o', tape, '--', process.execPath, server],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const times = []
  for (let id = 1; id <= rounds * 5; id++) {
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'm', params: { size, secret: true } })}\n`,
    )
    await lineFrom(child.stdout)
    const began = performance.now()
    let looks = 0
    while (!readFileSync(tape).includes(`"mark":"m${id}"`)) looks++
    times.push(looks === 0 ? 0 : performance.now() - began)
  }
  child.stdin.end()
  await new Promise((resolve) => child.on('exit', resolve))
  return median(times)
}

function lineFrom(stream) {
  return new Promise((resolve) => {
    const look = (chunk) => {
      if (chunk.at(-1) !== 10) return
      stream.off('data', look)
      resolve()
    }
    stream.on('data', look)
  })
}
