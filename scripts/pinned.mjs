// Packages in pinned versions beside the project, and the Node that they need: too large and too new for devDependencies.
import { existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, run } from './run.mjs'

/** Every major version that is supported: the oldest release of the first, the newest of the others. */
export const NODES = ['20.19.0', '22.23.3', '24.21.0']
export const NODE = { name: `node-${process.platform}-${process.arch}`, version: '24.21.0' }

/** A folder of node_modules/.cache with these packages; `install` fills it unless they are there, and ends us when that cannot be. */
export function pinned(name, packages) {
  const folder = join(root, 'node_modules', '.cache', name)
  const file = (...path) => join(folder, 'node_modules', ...path)
  const bin = process.platform === 'win32' ? 'node.exe' : 'node'
  return { install: () => install(folder, [...packages, NODE]), file, node: file(NODE.name, 'bin', bin) }
}

/** Installs a version of Node in a folder of its own, and returns its program. */
export function installNode(version) {
  const folder = join(root, 'node_modules', '.cache', `reelay-node-${version}`)
  install(folder, [{ ...NODE, version }])
  return join(folder, 'node_modules', NODE.name, 'bin', 'node')
}

function install(folder, packages) {
  const isThere = (each) => versionIn(folder, each.name) === each.version
  if (packages.every(isThere)) return
  const unlock = lock(`${folder}.lock`)
  try {
    if (!packages.every(isThere)) fill(folder, packages)
  } finally {
    unlock()
  }
  if (packages.every(isThere)) return
  console.error(`cannot install ${wordsOf(packages)} into ${folder}; it needs a registry`)
  process.exit(3)
}

function fill(folder, packages) {
  console.log(`installing ${wordsOf(packages)}`)
  mkdirSync(folder, { recursive: true })
  const quiet = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error']
  // Its own prefix: npm would otherwise walk up and change the project's node_modules.
  run('npm', ['install', '--prefix', folder, ...quiet, ...packages.map(spec)], { cwd: folder })
}

const spec = ({ name, version }) => `${name}@${version}`
const wordsOf = (packages) => packages.map(spec).join(', ')

/** Waits until no other process installs into the folder, such as another worker of the test runner. Returns what ends the lock. */
function lock(path) {
  mkdirSync(dirname(path), { recursive: true })
  const since = Date.now()
  for (;;) {
    try {
      mkdirSync(path)
      return () => rmdirSync(path)
    } catch (error) {
      // A process that was killed leaves its lock.
      if (error.code !== 'EEXIST' || Date.now() - since > LOCK_TIMEOUT_MS) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    }
  }
}

const LOCK_TIMEOUT_MS = 300_000

function versionIn(folder, name) {
  const file = join(folder, 'node_modules', name, 'package.json')
  // Some packages of Node write v20.19.0.
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version.replace(/^v/, '') : undefined
}
