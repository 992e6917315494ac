// Other people's packages that only a bench needs: fetched on first use into node_modules/.cache, never a dependency.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, run } from '../scripts/run.mjs'

/** A package to measure beside; undefined when it is not here and cannot be fetched. */
export async function peer(name, version) {
  const folder = join(root, 'node_modules', '.cache', 'reelay-bench', `${name}-${version}`)
  const installed = join(folder, 'node_modules', name)
  if (!existsSync(installed)) {
    mkdirSync(folder, { recursive: true })
    const flags = [
      '--prefix',
      folder,
      '--no-save',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ]
    if (run('npm', ['install', ...flags, `${name}@${version}`]) !== 0) return undefined
  }
  const { main, module } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  return import(pathToFileURL(join(installed, module ?? main)).href)
}
