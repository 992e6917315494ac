import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

let folder: string
let installed: string
let tarball: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reelay-package-'))
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  const shell = process.platform === 'win32'
  tarball = execFileSync('npm', args, { encoding: 'utf8', shell }).trim()
  // There is no node_modules: the package contains all that it needs.
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', folder])
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

test('npx runs the package in an empty folder with an empty cache, and asks the registry for nothing', async () => {
  const asked: (string | undefined)[] = []
  const registry = createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(404).end('{}')
  })
  await once(registry.listen(0, '127.0.0.1'), 'listening')
  const { port } = registry.address() as AddressInfo
  const empty = mkdtempSync(join(folder, 'empty-'))
  const env = {
    ...process.env,
    HOME: empty,
    REELAY_HOME: join(empty, 'home'),
    npm_config_cache: join(empty, 'cache'),
    npm_config_registry: `http://127.0.0.1:${port}`,
    npm_config_update_notifier: 'false',
  }
  copyFileSync(join(folder, tarball), join(empty, tarball))
  const args = ['--yes', `./${tarball}`, '--version']
  const shell = process.platform === 'win32'
  try {
    const { stdout } = await promisify(execFile)('npx', args, { cwd: empty, env, encoding: 'utf8', shell })
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  } finally {
    registry.close()
  }
  // Without a network, each question costs npm minutes of retries.
  expect(asked).toEqual([])
}, 120_000)

test('the package contains the dependencies of every command', () => {
  const env = { ...process.env, REELAY_HOME: join(folder, 'home'), NO_COLOR: '1' }
  const run = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [join(installed, 'dist', 'cli', 'main.js'), ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
  expect(run('ca', 'create')).toContain('ca.pem') // certificates
  writeFileSync(join(folder, 'mcp.json'), '{ "mcpServers": { "weather": { "command": "node" } } }')
  expect(run('wrap', 'weather', '--file', 'mcp.json', '--dry-run')).toContain('+') // JSON with comments
  writeFileSync(join(folder, 'reelay.config.yaml'), 'serve: { tapes: {} }\n')
  expect(() => run('serve')).toThrow('line 1, column 17: "serve.tapes" is not a list') // YAML
  const vendored = readdirSync(join(installed, 'dist', 'vendor')).filter((file) => file.endsWith('.cjs'))
  expect(vendored).toHaveLength(5)
  for (const file of vendored)
    execFileSync(process.execPath, [
      '-e',
      `require(${JSON.stringify(join(installed, 'dist', 'vendor', file))})`,
    ])
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

test('npm test, which CI runs, checks format, lint, types, build, unused code, package and tests', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const gate = readFileSync('scripts/gate.mjs', 'utf8')
  expect(readFileSync('.ci/run', 'utf8')).toMatch(/^npm test$/m)
  expect(scripts['test']).toBe('node scripts/gate.mjs')
  expect([...gate.matchAll(/\bname: '([^']+)'/g)].map(([, name]) => name)).toEqual([
    'format',
    'lint',
    'types',
    'types of the page',
    'build',
    'unused code',
    'package shape',
    'package types',
  ])
  expect(gate).toContain("runTool('vitest', ['run']")
})
