// SIGKILL to the recorder right after the last answer: is everything that was forwarded on the tape?
import { spawn } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compile, goal, reelay, scratch } from './measure.mjs'

const CALLS = 1000

export async function killRecorder({ rounds }) {
  const echo = compile('echo')
  console.log(`\nSIGKILL to the recorder on the last of ${CALLS} answers, ${rounds} times`)
  let lost = 0
  for (let round = 0; round < rounds; round++) lost += await killOnce(echo)
  return [goal('messages lost', lost, 0, 'at most')]
}

async function killOnce(echo) {
  const tape = join(scratch, 'kill.tape.jsonl')
  rmSync(tape, { force: true })
  const child = spawn(process.execPath, [reelay, 'record', '-q', '-o', tape, '--', echo], {
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
