// node bench/bindings/record.mjs: records each session twice, against fresh servers, with the truth beside the tapes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runSession } from './client.mjs'
import { desk } from './desk-session.mjs'
import { everything, filesystem, handles, memory } from './sessions.mjs'

const OUT = 'test/fixtures/bindings'
const reference = (name) => ['node', `node_modules/@modelcontextprotocol/${name}/dist/index.js`]

const SUBJECTS = {
  handles: { session: handles, command: () => ['node', 'test/fixtures/servers/handles.mjs'] },
  desk: { session: desk, command: () => ['node', 'test/fixtures/servers/desk.mjs'] },
  everything: { session: everything, command: () => reference('server-everything') },
  memory: { session: memory, command: () => reference('server-memory') },
  filesystem: { session: filesystem, command: (run) => [...reference('server-filesystem'), folderOf(run)] },
}

process.env.MEMORY_FILE_PATH = '/tmp/reelay-memory.json'
for (const [name, { session, command }] of Object.entries(SUBJECTS)) {
  for (const run of ['a', 'b']) {
    rmSync(process.env.MEMORY_FILE_PATH, { force: true })
    const tape = join(OUT, `${name}-${run}.tape.jsonl`)
    rmSync(tape, { force: true })
    const recorder = [
      'node',
      'dist/cli/main.js',
      'record',
      '-q',
      '--numbered',
      '-o',
      tape,
      '--',
      ...command(run),
    ]
    const labels = await runSession(recorder, session)
    const lines = labels.map((label) => JSON.stringify(label)).join(',\n')
    if (run === 'a') writeFileSync(join(OUT, `${name}.labels.json`), `[\n${lines}\n]\n`)
    console.log(
      `${tape}: ${labels.length} values sent, ${labels.filter(({ bound }) => bound).length} carried over`,
    )
  }
}

/** A folder with a file whose name the client learns from the server; another one in each run. */
function folderOf(run) {
  const folder = `/tmp/reelay-${run === 'a' ? 'garden' : 'orchard'}`
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  writeFileSync(join(folder, run === 'a' ? 'roses-2026.md' : 'apples-2027.md'), '# Notes\n')
  return folder
}
