import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
let installed: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reelay-package-'))
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  const shell = process.platform === 'win32'
  const packed = execFileSync('npm', args, { encoding: 'utf8', shell }).trim()
  // Dependencies are not installed: the demo and the library need none of them.
  execFileSync('tar', ['-xzf', join(folder, packed), '-C', folder])
  installed = join(folder, 'package')
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

test('the package has fewer than 400 files, and no source maps', () => {
  const files = filesIn(installed)
  expect(files.length).toBeLessThan(400)
  expect(files.filter((file) => file.endsWith('.map'))).toEqual([])
  for (const file of files.filter((each) => /\.(js|cjs|ts)$/.test(each)))
    expect(readFileSync(join(installed, file), 'utf8')).not.toContain('//# sourceMappingURL')
})

test('every page in the package links only to files in the package', () => {
  const pages = filesIn(installed).filter((file) => file.startsWith('docs') && file.endsWith('.md'))
  const dead = pages.flatMap((page) =>
    [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!\w+:)([^)#\s]+)/g)]
      .filter(([, path = '']) => !existsSync(join(installed, dirname(page), path)))
      .map(([, path]) => `${page} -> ${path}`),
  )
  expect(dead).toEqual([])
})

test('the demo of the package runs in an empty folder, without a network', () => {
  const env = { ...process.env, REELAY_HOME: join(folder, 'home'), NO_COLOR: '1' }
  const main = join(installed, 'dist', 'cli', 'main.js')
  const shown = execFileSync(process.execPath, [main, 'demo'], { cwd: folder, env, encoding: 'utf8' })
  expect(shown).toContain('4 requests, every response as recorded.')
})

test('the library of the package can be imported', () => {
  const url = new URL(`file://${join(installed, 'dist', 'lib', 'index.js')}`)
  const program = `import * as reelay from ${JSON.stringify(url)}; console.log(typeof reelay.loadTape)`
  const shown = execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  expect(shown).toBe('function\n')
})

function filesIn(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
}
