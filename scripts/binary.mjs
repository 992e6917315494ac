// npm run binary [-- <file>]: writes Reelay as a single executable file for this platform, with Node inside (Node's SEA).
import { createHash } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, installWhenNeeded, root, run, runTool } from './run.mjs'

const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const suffix = process.platform === 'win32' ? '.exe' : ''
const target = resolve(process.argv[2] ?? join(root, 'dist', 'binary', `reelay${suffix}`))

installWhenNeeded()
if (process.env.REELAY_BUILT !== '1' && (await build()) !== 0) process.exit(1)
const folder = mkdtempSync(join(tmpdir(), 'reelay-binary-'))
try {
  process.exitCode = writeBinary()
} finally {
  rmSync(folder, { recursive: true })
}

function writeBinary() {
  const payload = packFiles([
    'package.json',
    ...filesIn('dist/cli'),
    ...filesIn('dist/lib'),
    ...filesIn('dist/schema'),
    ...filesIn('dist/ui'),
    ...filesIn('dist/vendor'),
  ])
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(workFile('payload'), payload)
  writeFileSync(
    workFile('name'),
    `${version}-${createHash('sha256').update(payload).digest('hex').slice(0, 16)}`,
  )
  writeFileSync(
    workFile('sea.json'),
    JSON.stringify({
      main: join(root, 'scripts', 'binary', 'bootstrap.cjs'),
      output: workFile('blob'),
      disableExperimentalSEAWarning: true,
      assets: { payload: workFile('payload'), name: workFile('name') },
    }),
  )
  const prepared = run(process.execPath, ['--experimental-sea-config', workFile('sea.json')], {
    shell: false,
  })
  if (prepared !== 0) return prepared
  mkdirSync(dirname(target), { recursive: true })
  rmSync(target, { force: true })
  copyFileSync(process.execPath, target)
  chmodSync(target, 0o755)
  const isMac = process.platform === 'darwin'
  if (isMac) run('codesign', ['--remove-signature', target])
  const segment = isMac ? ['--macho-segment-name', 'NODE_SEA'] : []
  const injected = runTool(
    'postject',
    [target, 'NODE_SEA_BLOB', workFile('blob'), '--sentinel-fuse', FUSE, ...segment],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  )
  if (injected !== 0) return injected
  if (isMac) run('codesign', ['--sign', '-', target])
  console.log(`${target} (${Math.round(statSync(target).size / 1e6)} MB)`)
  return 0
}

function workFile(name) {
  return join(folder, name)
}

function filesIn(path) {
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && !entry.parentPath.slice(join(root, path).length).includes('node_modules'),
    )
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted()
}

/** A list of paths and lengths, preceded by its own length, and then the files. `bootstrap.cjs` reads it. */
function packFiles(files) {
  const contents = files.map((file) => readFileSync(join(root, file)))
  const list = Buffer.from(JSON.stringify(files.map((file, at) => [file, contents[at].length])))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(list.length)
  return gzipSync(Buffer.concat([length, list, ...contents]))
}
