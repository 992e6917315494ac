// Shared by the project's own scripts: run a command, and install or build only when that is needed.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Runs a command in the project folder; the exit code is returned, never thrown. */
export function run(command, args, options = {}) {
  const shell = process.platform === 'win32'
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: 'inherit', shell, ...options })
  if (error) console.error(`${command}: ${error.message}`)
  return status ?? 1
}

/** Runs a program of a dev dependency by its file, so that no shell and no npx is needed. */
export function runTool(name, args, options = {}) {
  return run(process.execPath, [binOf(name), ...args], { shell: false, ...options })
}

/** Installs exactly what the lock file says, unless node_modules already holds it. */
export function installWhenNeeded() {
  if (isInstalled()) return
  console.log('installing dependencies (npm ci)')
  const status = run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  if (status !== 0) process.exit(status)
}

/**
 * Installs programs that tests run beside Reelay, such as shells, with the package manager of Debian and Ubuntu. On other systems,
 * or without the right to install, the tests that need them fail and name the program.
 */
export function installPrograms(names) {
  const missing = names.filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error)
  if (missing.length === 0 || process.platform !== 'linux') return
  console.log(`installing ${missing.join(', ')} (apt-get)`)
  const sudo = process.getuid() === 0 ? [] : ['sudo', '-n']
  const apt = (args) => {
    const [file, ...rest] = [...sudo, 'apt-get', '-qq', ...args]
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    return spawnSync(file, rest, { stdio: ['ignore', 'ignore', 'inherit'], env }).status
  }
  const install = ['install', '-y', '--no-install-recommends', ...missing]
  if (apt(install) !== 0) void (apt(['update']) === 0 && apt(install))
}

/** Plain tsc for the library; the program is then packed into few CommonJS files, which start faster (docs/decisions). */
export async function build() {
  const began = Date.now()
  const program = join(root, 'dist', 'cli')
  rmSync(program, { recursive: true, force: true })
  const compiled = runTool('typescript', ['-p', 'tsconfig.build.json'])
  if (compiled !== 0) return compiled
  const { packProgram } = await import('./pack.mjs')
  await packProgram(join(root, 'dist'))
  await packLibrary(join(root, 'dist'))
  const { writeOfficialSchemas } = await import('./official-schemas.mjs')
  const suite = join(root, 'node_modules', '@modelcontextprotocol', 'conformance')
  writeOfficialSchemas(suite, join(root, 'dist', 'schema'))
  const { writePage } = await import('./page.mjs')
  const pageCode = writePage(join(root, 'dist'))
  if (pageCode !== 0) return pageCode
  removeOlder(join(root, 'dist'), began - CLOCK_TOLERANCE_MS)
  return 0
}

/** Clocks of file systems may be a little behind. */
const CLOCK_TOLERANCE_MS = 100

/** Removes what an earlier build has left. This is done last, because a program may be running from the folder. */
function removeOlder(folder, time) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) removeOlder(path, time)
    else if (statSync(path).ctimeMs < time) rmSync(path)
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}

/** The test runners with an entry of their own, such as `reelay/vitest`. */
const RUNNERS = ['vitest', 'jest', 'node-test', 'playwright']

/**
 * What `import 'reelay'` loads: a few files instead of one for each module, and only the types that they show. Benchmarks and
 * tests use the modules themselves, which the package leaves out.
 */
async function packLibrary(dist) {
  const { packDependencies, VENDORED_NAMES, withVendored } = await import('./pack.mjs')
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({
    input: {
      index: join(dist, 'index.js'),
      auto: join(dist, 'auto', 'index.js'),
      ...Object.fromEntries(RUNNERS.map((runner) => [runner, join(dist, 'testing', `${runner}.js`)])),
    },
    platform: 'node',
    external: [...VENDORED_NAMES, 'vitest'],
    checks: { ineffectiveDynamicImport: false }, // the program has other chunks
  })
  await bundle.write({ dir: join(dist, 'lib'), format: 'esm', chunkFileNames: '[name].js' })
  // Jest loads CommonJS by default, and then it cannot import ES modules, so that everything is in one file.
  const forJest = await rolldown({
    input: join(dist, 'testing', 'jest.js'),
    platform: 'node',
    external: VENDORED_NAMES,
    checks: { ineffectiveDynamicImport: false },
  })
  await forJest.write({
    file: join(dist, 'lib', 'jest.cjs'),
    format: 'cjs',
    codeSplitting: false,
    dynamicImportInCjs: false,
  })
  await packDependencies(join(dist, 'vendor'))
  for (const file of readdirSync(join(dist, 'lib'))) {
    const path = join(dist, 'lib', file)
    writeFileSync(path, withVendored(readFileSync(path, 'utf8')))
  }
  const types = ['index.d.ts', join('auto', 'index.d.ts')]
  for (const runner of RUNNERS) types.push(join('testing', `${runner}.d.ts`))
  for (const file of typesShownBy(types, dist)) {
    const target = join(dist, 'types', file)
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, readFileSync(join(dist, file), 'utf8').replace(/^\/\/# sourceMapping.*$/m, ''))
  }
  const jest = join(dist, 'types', 'testing', 'jest.d')
  writeFileSync(`${jest}.cts`, commonJsTypes(readFileSync(`${jest}.ts`, 'utf8')))
}

/** The declarations of an ES module for programs that load it with `require`. What they import stays ES modules. */
function commonJsTypes(text) {
  return text
    .replace(
      /^export \{ (\w+) \} from ('[^']+');$/gm,
      (_, name, from) =>
        `import type * as from${name} from ${from};\nexport declare const ${name}: typeof from${name}.${name};\nexport type ${name} = from${name}.${name};`,
    )
    .replace(/^import \{ type (\w+) \} from/gm, 'import type { $1 } from')
    .replace(/^((?:import|export) type .* from '[^']+');$/gm, `$1 with { 'resolution-mode': 'import' };`)
}

/** The declarations that can be reached from some of them. */
function typesShownBy(files, folder) {
  const found = new Set(files)
  for (const file of found) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, name] of text.matchAll(/(?:from|import\()\s*['"](\.[^'"]+)\.ts['"]/g))
      found.add(join(dirname(file), `${name}.d.ts`))
  }
  return found
}

function isInstalled() {
  const marker = join(root, 'node_modules', '.package-lock.json')
  if (!existsSync(marker)) return false
  const installed = JSON.parse(readFileSync(marker, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === '' || entry.optional || entry.peer || installed[path]?.version === entry.version,
  )
}

function binOf(name) {
  const folder = join(root, 'node_modules', name)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = typeof bin === 'string' ? bin : (bin[name] ?? bin.tsc ?? Object.values(bin)[0])
  return join(folder, file)
}
