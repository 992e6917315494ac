// A Python with pytest, the official SDK and our plugin, in pinned versions beside the project.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, run } from './run.mjs'

const PACKAGES = ['pytest==8.4.2', 'mcp==2.3.0']
const isWindows = process.platform === 'win32'
const folder = join(root, 'node_modules', '.cache', 'reelay-python')

/** The programs of the environment. Put it first in the PATH. */
export const pythonPrograms = join(folder, 'venv', isWindows ? 'Scripts' : 'bin')
export const python = join(pythonPrograms, isWindows ? 'python.exe' : 'python3')

/** Makes the environment, unless it is there; the plugin is installed again if it has changed. */
export function installPython() {
  mkdirSync(folder, { recursive: true })
  once('packages', PACKAGES.join(' '), () => {
    need(isWindows ? 'python' : 'python3', ['-m', 'venv', '--clear', join(folder, 'venv')])
    need(python, ['-m', 'pip', 'install', '--quiet', ...PACKAGES])
  })
  const sources = ['pyproject.toml', 'README.md', join('src', 'pytest_reelay', '__init__.py')]
  const hash = createHash('sha256')
  for (const file of sources) hash.update(readFileSync(join(root, 'python', file)))
  once('plugin', `${PACKAGES.join(' ')} ${hash.digest('hex')}`, () => {
    const copy = join(folder, 'plugin') // the build writes files beside the sources
    rmSync(copy, { recursive: true, force: true })
    cpSync(join(root, 'python'), copy, { recursive: true })
    need(python, ['-m', 'pip', 'install', '--quiet', '--force-reinstall', '--no-deps', copy])
  })
}

function once(name, wanted, work) {
  const mark = join(folder, `${name}.installed`)
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return
  console.log(`installing ${name} of Python`)
  work()
  writeFileSync(mark, wanted)
}

function need(command, args) {
  if (run(command, args, { cwd: folder }) === 0) return
  throw new Error(`${command} ${args.join(' ')} failed; Python 3.10 with venv, and PyPI, are needed`)
}
