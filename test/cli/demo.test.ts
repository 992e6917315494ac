import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from 'vitest'

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'reelay-demo-test-'))))
afterEach(() => rmSync(folder, { recursive: true }))

test('the demo records a session, ends the server, plays the same answers, shows a miss and checks the server', async () => {
  const { stdout, stderr, code } = await demo()
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  expect(withoutChance(stdout)).toMatchInlineSnapshot(`
    "Reelay records an MCP session, then replaces the server, and then replaces the client.

    1. Record. A client talks to a server through \`reelay record\`.
       The server offers weather, count_words, forecast_trip. Three calls at once:
         weather        <n> °C in Oslo (ticket <hex>)
         count_words    6 words, counted at <time>
         forecast_trip  Lisbon by train, seat <n> (ticket <hex>)
       Meanwhile: 3 progress messages, and the server asked "By train or by plane?"

    2. The tape. <n> frames, plain JSON lines; \`reelay inspect\` shows the exchanges:
       # at request latency  outcome
       1 <ms>  initialize <ms>  ok
       2 <ms>  tools/list <ms>  ok
       3 <ms>  tools/call weather <ms>  ok  city=Oslo
       4 <ms>  tools/call count_words <ms>  ok  text="to be or not to be"
       5 <ms>  tools/call forecast_trip <ms>  ok  to=Lisbon  3 notifications, asked elicitation/create

    3. No server. The server process <pid> has exited. From here on, the tape answers.

    4. Serve. The same client connects to \`reelay serve\` with different request ids:
         weather        <n> °C in Oslo (ticket <hex>)
         count_words    6 words, counted at <time>
         forecast_trip  Lisbon by train, seat <n> (ticket <hex>)
       Everything is identical, random values included: handshake, list, results, progress, question.

    5. Miss. "Bergen" was never recorded, only "Oslo". Reelay reports a miss instead of guessing:
       REPLAY MISS  tools/call weather   tape: demo.tape.jsonl
       why          ARGUMENT_DRIFT: same tool, 1 of 2 fields differs
       request      tools/call weather {"city":"Bergen"}
       nearest      #<n>, distance 0.50, recorded <date>, used 0 of 1 times
         ~ params.arguments.city   recorded "Oslo"   got "Bergen"
         = params.name
       next         #<n> tools/call weather {"city":"Oslo"}
       fixes        for this run only                    reelay serve demo.tape.jsonl --ignore params.arguments.city
                    record it again                      reelay record -o demo.tape.jsonl --overwrite -- <server>
                    ignore the difference, from now on   reelay match add demo.tape.jsonl params.arguments.city --as ignore --tool weather
       The client received it as a JSON-RPC error, and \`reelay serve\` exited with code 1.

    6. Check. The server is back, and \`reelay verify\` takes the place of the client: it sends the recorded requests.
       4 requests, every response as recorded. <n> texts were not compared: they
       differ from run to run. Any other change would be listed, with exit code 1.

    Your turn. The demo's tape is deleted. Try it with your own server, in your client's config or here:
      node dist/cli/main.js record my-session -- <your server command>
      node dist/cli/main.js serve my-session
      node dist/cli/main.js verify my-session -- <your server command>
    "
  `)
  expect(stdout.split('\n').length).toBeLessThan(50)
})

test('the answers that the tape gives are those that the server made up', async () => {
  const { stdout } = await demo()
  const recorded = answersIn(stdout, '1. Record.', '2. The tape.')
  expect(recorded).toHaveLength(3)
  expect(answersIn(stdout, '4. Serve.', '5. Miss.')).toEqual(recorded)
  expect(answersIn((await demo()).stdout, '1. Record.', '2. The tape.')).not.toEqual(recorded)
})

test('the demo leaves neither a file nor a process', async () => {
  const { stdout } = await demo()
  const [, pid] = /The server process (\d+) has exited/.exec(stdout) ?? []
  expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH')
  expect(readdirSync(folder)).toEqual([])
})

test('an interrupted demo cleans up and ends with 130', async () => {
  const child = startDemo()
  child.stdout.once('data', () => child.kill('SIGINT'))
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(130)
  expect(readdirSync(folder)).toEqual([])
})

/** The temporary folder and the home folder are our own, so that whatever is left there shows. */
function startDemo(): ChildProcessByStdio<null, Readable, Readable> {
  const own = { TMPDIR: folder, TEMP: folder, TMP: folder, REELAY_HOME: folder }
  const env = { ...process.env, FORCE_COLOR: undefined, ...own }
  return spawn(process.execPath, ['dist/cli/main.js', 'demo'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function demo(): Promise<{ stdout: string; stderr: string; code: number | null }> {
  const child = startDemo()
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { stdout, stderr, code }
}

function answersIn(stdout: string, from: string, to: string): readonly string[] {
  const act = stdout.slice(stdout.indexOf(from), stdout.indexOf(to))
  return act.split('\n').filter((line) => /^ {5}\w/.test(line))
}

/** Holds still what differs from run to run: made-up values, times, the process, the numbers of frames. */
function withoutChance(stdout: string): string {
  return stdout
    .replaceAll(/-?\d+ °C/g, '<n> °C')
    .replaceAll(/ticket [0-9a-f]{8}/g, 'ticket <hex>')
    .replaceAll(/counted at \S+/g, 'counted at <time>')
    .replaceAll(/seat \d+/g, 'seat <n>')
    .replaceAll(/server process \d+/g, 'server process <pid>')
    .replaceAll(/ +\+?\d+\.\d+ m?s/g, ' <ms>')
    .replaceAll(/ +at  request +latency/g, ' at request latency')
    .replaceAll(/\d+ frames/g, '<n> frames')
    .replaceAll(/#\d+/g, '#<n>')
    .replaceAll(/\d+ texts/g, '<n> texts')
    .replaceAll(/recorded \d{4}-\d\d-\d\d/g, 'recorded <date>')
    .replaceAll(/(reelay record .*-- ).*/g, '$1<server>')
}
