// npm run flakes [-- --runs N]: 200 tests, each with a tape of its own, in 8 workers of Vitest, run many times without their server.
// Every run has to pass, and every tape has to keep its bytes.
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start, ended } from './processes.mjs'
import { installWhenNeeded, root } from './run.mjs'

const [FILES, TESTS, WORKERS] = [8, 25, 8]

const TEST = `import { expect, test } from 'vitest'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { useTape } from 'reelay/vitest'
for (let nth = 0; nth < ${TESTS}; nth++)
  test.concurrent('session ' + nth, async (test) => {
    const tape = await useTape({ test, live: { command: process.execPath, args: ['server.mjs'] } })
    const client = new Client({ name: 'agent', version: '1' })
    await client.connect(await tape.transport())
    for (const word of ['tea', 'milk', 'bread']) {
      const query = word + ' ' + nth
      const { structuredContent } = await client.callTool({ name: 'search', arguments: { query } })
      expect(structuredContent).toEqual({ query })
    }
    await client.close()
    expect(tape).toHaveCalledTimes('search', 3)
  })
`

const words = process.argv.slice(2)
const at = words.indexOf('--runs')
const runs = at < 0 ? 100 : Number(words[at + 1])
if (!Number.isInteger(runs) || runs < 1 || words.length > (at < 0 ? 0 : 2)) {
  console.error('usage: npm run flakes [-- --runs N]')
  process.exit(2)
}
installWhenNeeded()
if (!existsSync(join(root, 'dist', 'lib', 'vitest.js'))) {
  console.error('build first: npm run build')
  process.exit(3)
}

const folder = mkdtempSync(join(tmpdir(), 'reelay-flakes-'))
try {
  makeProject()
  // All servers at once would be a test of the machine.
  const recorded = await runTests({ CI: '' }, ['--maxWorkers=2', '--maxConcurrency=2'])
  if (recorded !== undefined) throw new Error(`the run that records failed:\n${recorded}`)
  const before = tapes()
  rmSync(join(folder, 'server.mjs'))
  let failures = 0
  for (let run = 1; run <= runs; run++) {
    const said = await runTests({ CI: '1' })
    if (said !== undefined) console.log(`run ${run} failed:\n${said}`)
    const isSame = tapes() === before
    if (!isSame) console.log(`run ${run} changed tapes`)
    if (said !== undefined || !isSame) failures++
    if (run % 10 === 0) console.log(`${run} runs, ${failures} failed`)
  }
  console.log(`${FILES * TESTS} tapes in ${WORKERS} workers: ${runs} runs, ${failures} failed`)
  process.exitCode = failures === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function makeProject() {
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  symlinkSync(root, join(modules, 'reelay'), 'junction')
  for (const name of ['vitest', '@modelcontextprotocol', 'zod'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  const server = readFileSync(join(root, 'test', 'fixtures', 'servers', 'catalogue.mjs'))
  writeFileSync(join(folder, 'server.mjs'), server)
  for (let nth = 1; nth <= FILES; nth++) writeFileSync(join(folder, `file-${nth}.test.mjs`), TEST)
}

/** Returns what a failing run said. */
async function runTests(env, workers = [`--maxWorkers=${WORKERS}`]) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  // A busy machine is slow, which is no flake.
  const patient = ['--testTimeout=300000', '--hookTimeout=300000']
  const args = [vitest, 'run', '--reporter=dot', ...workers, ...patient]
  const child = start([process.execPath, ...args], {
    cwd: folder,
    env: { ...process.env, ...env, NO_COLOR: '1' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => (said += chunk))
  const code = await ended(child)
  const passed = /Tests +(\d+) passed \((\d+)\)/.exec(said)
  return code === 0 && Number(passed?.[1]) === FILES * TESTS ? undefined : said
}

/** A hash of all files of tapes: names and bytes. */
function tapes() {
  const hash = createHash('sha256')
  const files = readdirSync(join(folder, '__tapes__'), { recursive: true }).map(String).toSorted()
  for (const file of files.filter((name) => name.includes('.tape.')))
    hash.update(file).update(readFileSync(join(folder, '__tapes__', file)))
  return hash.digest('hex')
}
