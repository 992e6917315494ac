// Puts fake secrets into texts and into a recorded session, and counts those that remain.
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fromDist, spellings, WRAPPINGS } from './fakes.mjs'
import { root } from '../run.mjs'

export function ephemeralKey() {
  return { name: 'k-secrets', hmac: (text) => createHmac('sha256', 'secrets').update(text).digest() }
}

const json = (message) => JSON.stringify({ jsonrpc: '2.0', ...message })

/** The text in a message, a query or a header. */
function plainText(written) {
  const decoded = written.startsWith('/mcp?') ? decodeURIComponent(written) : written
  return decoded.replaceAll('\\n', ' ')
}

/** A header has no line breaks. Those within base64 are left out. */
function inOneLine(text) {
  return text.replaceAll(/[\r\n]+/g, text.indexOf('\n') === 76 ? '' : ' ')
}

/** The places where a value can stand, as the recorder redacts them. Each returns what is on the tape. */
const PLACES = {
  params: (redactor, text) =>
    redactor.text(json({ id: 1, method: 'tools/call', params: { name: 'x', arguments: { text } } })),
  result: (redactor, text) => redactor.text(json({ id: 1, result: { content: [{ type: 'text', text }] } })),
  error: (redactor, text) => redactor.text(json({ id: 1, error: { code: -1, message: text, data: [text] } })),
  notification: (redactor, text) =>
    redactor.text(json({ method: 'notifications/message', params: { data: text } })),
  stderr: (redactor, text) => redactor.text(`${text}\n`),
  argv: (redactor, text) => redactor.command(['server', '--note', text, `--entry=${text}`]).join(' '),
  header: (redactor, text) => redactor.header('X-Note', inOneLine(text)),
  query: (redactor, text) => redactor.url(`/mcp?page=2&q=${encodeURIComponent(text)}`),
  'SSE id': (redactor, text) => redactor.text(text),
}

/** How what is on the tape is redacted again, where this is not simply its text. */
const PLACES_ON_TAPE = {
  header: (redactor, written) => redactor.header('X-Note', written),
  query: (redactor, written) => redactor.url(written),
}

/**
 * Tries every kind in every wrapping and every place. Returns the number of leaks, and of placeholders that are replaced when a live
 * client sends the same text (`unstable`) or when the tape is redacted again (`again`).
 */
export async function findLeaksInTexts(kinds, pick) {
  const { Redactor } = await fromDist('redact', 'redactor.js')
  const key = ephemeralKey()
  const places = Object.entries(PLACES)
  console.log(
    ['wrapping'.padEnd(28), ...places.map(([name]) => name.padStart(13)), '  unstable     again'].join(''),
  )
  let [tried, leaks, changes] = [0, 0, 0]
  for (const [name, { wrap, spell, decode }] of Object.entries(WRAPPINGS)) {
    let unstable = 0
    const changed = []
    const counts = places.map(([place, redact]) => {
      // Every fake is another one, so what these have learned does not help them.
      const [redactor, live] = [new Redactor({ key }), new Redactor({ key, source: 'live' })]
      const again = new Redactor({ key, source: 'again' })
      const leaked = kinds.filter((kind) => {
        const { text, secret } = kind.make(pick)
        const written = redact(redactor, wrap(text))
        tried++
        if (redact(live, wrap(text)) !== written) unstable++
        if (redactedAgain(place, again, written) !== written) changed.push(kind)
        const readable = decode === undefined ? written : `${written}\n${decode(plainText(written))}`
        return spellings(secret, spell).some((each) => readable.includes(each))
      })
      leaks += leaked.length
      return leaked
    })
    changes += unstable + changed.length
    console.log(
      [
        name.padEnd(28),
        ...counts.map(({ length }) => String(length).padStart(13)),
        String(unstable).padStart(10),
        String(changed.length).padStart(10),
      ].join(''),
    )
    for (const kind of new Set(counts.flat())) console.log(`  leaked: ${kind.name}`)
    for (const kind of new Set(changed)) console.log(`  replaced again: ${kind.name}`)
  }
  console.log(`\n${tried} texts tried, ${leaks} leaks, ${changes} that another redaction changes`)
  return leaks + changes
}

function redactedAgain(place, redactor, written) {
  return PLACES_ON_TAPE[place]?.(redactor, written) ?? redactor.text(written)
}

/** Records a session with every kind in every wrapping, shares the tape, and searches every file and stderr. */
export async function findLeaksInSession(kinds, pick) {
  const home = mkdtempSync(join(tmpdir(), 'reelay-secrets-'))
  const tape = join(home, 'session.tape.jsonl')
  const planted = Object.values(WRAPPINGS).flatMap(({ wrap, spell, decode }) =>
    kinds.map((kind) => {
      const { text, secret } = kind.make(pick)
      const wrapped = wrap(text)
      const packed = decode === undefined ? [] : [wrapped]
      return { name: kind.name, text: wrapped, spellings: [...spellings(secret, spell), ...packed] }
    }),
  )
  const env = { ...process.env, REELAY_HOME: home }
  const server = [process.execPath, join(root, 'scripts', 'secrets', 'server.mjs')]
  const { stderr } = await converse(reelay('record', '-o', tape, '--', ...server), env, planted)
  const shared = await run(reelay('share', tape, '-o', join(home, 'shared.tape.jsonl')), env)
  const listed = await run(reelay('inspect', tape, '--json'), env)
  const served = await converse(reelay('serve', tape), env, planted)
  const misses = served.answers.filter((line) => line.includes('replay_miss')).length
  const written = {
    // What the server writes to stderr is forwarded unchanged.
    stderr: stderr
      .split('\n')
      .filter((line) => line.startsWith('reelay:'))
      .join('\n'),
    share: shared.output,
    inspect: listed.output,
    'stderr of serve': served.stderr,
  }
  for (const name of readdirSync(home))
    if (/tape|index/.test(name)) written[name] = readFileSync(join(home, name), 'utf8')
  rmSync(home, { recursive: true, force: true })
  console.log(
    `\na session with ${planted.length} requests, each answered with a result, a notification and a line on stderr`,
  )
  let leaks = 0
  for (const [name, text] of Object.entries(written)) {
    const leaked = planted.filter((each) => each.spellings.some((spelling) => text.includes(spelling)))
    leaks += leaked.length
    console.log(
      `  ${name.padEnd(28)}${leaked.length} leaks in ${text.length.toLocaleString('en')} characters`,
    )
    for (const each of leaked.slice(0, 5)) console.log(`    ${each.name}`)
  }
  console.log(`  share: exit code ${shared.code}; the tape answered the real client with ${misses} misses`)
  return leaks + (shared.code === 0 ? 0 : 1) + misses
}

function reelay(...args) {
  return [process.execPath, join(root, 'dist', 'cli', 'main.js'), ...args]
}

async function converse([program, ...args], env, planted) {
  const child = spawn(program, args, { env, stdio: 'pipe' })
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += chunk))
  const exited = new Promise((resolve) => child.on('close', resolve))
  const answers = []
  const lines = createInterface({ input: child.stdout })
  const waiting = new Map()
  lines.on('line', (line) => {
    const { id } = JSON.parse(line)
    if (id === undefined) return
    answers.push(line)
    waiting.get(id)?.()
  })
  for (const [id, { text }] of planted.entries()) {
    const answered = new Promise((resolve) => waiting.set(id, resolve))
    child.stdin.write(
      `${json({ id, method: 'tools/call', params: { name: 'echo', arguments: { text } } })}\n`,
    )
    await Promise.race([answered, exited])
  }
  child.stdin.end()
  await exited
  return { stderr, answers }
}

async function run([program, ...args], env) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, output }
}
