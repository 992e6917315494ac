// Packs the program into few files that start fast: docs/decisions/0002-the-program-is-packed-as-commonjs.md.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { rolldown } from 'rolldown'
import { minifySync } from 'rolldown/experimental'
import { parseAst } from 'rolldown/parseAst'

const MAIN = 'cli/main.js'
/** The file with what most commands load: these modules, and all that they import. */
const PROGRAM = 'reelay.js'
const IN_PROGRAM = [MAIN, 'cli/serve/serve-tapes.js', 'cli/run-program.js', 'cli/output/print.js']
/** The file with all other modules. */
const COMMANDS = 'commands.js'

/** Replaces what tsc has written to `dist/cli` by the packed program. */
export async function packProgram(dist) {
  const [program, packed] = [join(dist, 'cli'), join(dist, 'packed')]
  const modules = await bundledModules(dist)
  const names = [...modules.keys()]
  const namesIn = (file) => names.filter((name) => modules.get(name).file === file)
  const files = {
    'main.js': launcher(program),
    'package.json': '{ "type": "commonjs" }\n',
    [PROGRAM]: script(namesIn(PROGRAM), modules),
    [COMMANDS]: script(namesIn(COMMANDS), modules),
  }
  for (const [command, sessions] of Object.entries(CLIENTS_WAIT_FOR)) {
    const start = `${command}.js`
    writeFiles(packed, { ...files, [start]: script(names, modules, { isTraced: true }) })
    files[start] = script(modulesRunBy([join(packed, 'main.js'), command], sessions), modules)
  }
  writeFiles(packed, files)
  chmodSync(join(packed, 'main.js'), 0o755)
  rmSync(program, { recursive: true })
  renameSync(packed, program)
}

function writeFiles(folder, files) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
}

/** Every module that the program can reach, as CommonJS, by its name. */
async function bundledModules(dist) {
  const bundle = await rolldown({
    input: join(dist, MAIN),
    platform: 'node',
    external: VENDORED_NAMES,
    optimization: { inlineConst: true },
  })
  const { output } = await bundle.generate({
    format: 'cjs',
    preserveModules: true,
    preserveModulesRoot: dist,
    dynamicImportInCjs: false, // code out of V8's cache cannot import
  })
  const importsOf = new Map(output.map(({ fileName, imports }) => [fileName, imports]))
  const inProgram = new Set(IN_PROGRAM)
  for (const name of inProgram)
    for (const each of importsOf.get(name)) if (importsOf.has(each)) inProgram.add(each)
  return new Map(
    output.map(({ fileName, code }, at) => [
      fileName,
      {
        code: code.replace(/^#!.*\n/, ''),
        accessor: fileName === MAIN ? 'main' : `module${at}`,
        file: inProgram.has(fileName) ? PROGRAM : COMMANDS,
      },
    ]),
  )
}

/**
 * A client waits for these two commands. Each has a file with copies of the modules that ordinary sessions run, so that little
 * has to be read, and nothing has to be loaded while messages pass. The arguments are those of sessions that show which modules
 * these are. A large tape is read through its index.
 */
const CLIENTS_WAIT_FOR = {
  record: [
    [
      '--numbered',
      '-o',
      'new.tape.jsonl',
      '--',
      process.execPath,
      '-e',
      smallServer.toString().replace(/.*?{/s, '').slice(0, -1),
    ],
  ],
  serve: [['small'], ['large']],
}

function smallServer() {
  process.stderr.write('started\n')
  process.stdin.on('data', (lines) => {
    for (const [, id] of String(lines).matchAll(/"id":(\d+)/g))
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`)
  })
}

/** Runs sessions with the traced program, each twice: the first one creates files, such as the index of a tape. */
function modulesRunBy(program, sessions) {
  const home = mkdtempSync(join(tmpdir(), 'reelay-build-'))
  try {
    mkdirSync(join(home, 'tapes'))
    for (const [name, messages] of Object.entries(MESSAGES))
      writeFileSync(join(home, 'tapes', `${name}.tape.jsonl`), tapeOf(messages))
    for (const trace of ['ignored', 'trace'])
      for (const args of sessions) runSession({ program, args, home, trace: join(home, trace) })
    return [...new Set(readFileSync(join(home, 'trace'), 'utf8').trim().split('\n'))]
  } finally {
    rmSync(home, { recursive: true })
  }
}

function runSession({ program, args, home, trace }) {
  const env = { ...process.env, NODE_OPTIONS: '', REELAY_HOME: home, REELAY_TRACE: trace }
  const messages = MESSAGES[args[0]] ?? MESSAGES.small
  const input = messages.map((message) => `${JSON.stringify(message)}\n`).join('')
  const words = [...program, ...args]
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: home, env, input, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the packed program does not work: ${stderr}`)
}

const about = { protocolVersion: '2025-06-18', capabilities: {} }
const SMALL_SESSION = [
  { id: 0, method: 'initialize', params: { ...about, clientInfo: { name: 'build', version: '1' } } },
  { method: 'notifications/initialized' },
  { id: 1, method: 'tools/list' },
  callOf(2, 'not a real one'),
  // Words of base64 and hex are looked into.
  {
    id: 3,
    method: 'ping',
    params: {
      image: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ',
      text: 'TWFueSBoYW5kcyBtYWtlIGxpZ2h0IHdvcmsuIE1hbnk=',
    },
  },
  { id: 4, method: 'ping', params: { text: '4d616e792068616e6473206d616b65206c6967687420776f726b2e' } },
].map((message) => ({ jsonrpc: '2.0', ...message }))

/** What the client says, by the name of the tape. */
const MESSAGES = {
  small: SMALL_SESSION,
  large: [...SMALL_SESSION, ...Array.from({ length: 1100 }, (_, at) => callOf(at + 5, 'x'.repeat(1000)))],
}

function callOf(id, password) {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'log_in', arguments: { password } } }
}

function tapeOf(messages) {
  const frames = messages
    .flatMap((message) => [
      { dir: 'c2s', msg: message },
      ...('id' in message ? [{ dir: 's2c', msg: { jsonrpc: '2.0', id: message.id, result: about } }] : []),
    ])
    .map((frame, at) => ({ n: at + 1, t: at, server: 's', conn: 1, ...frame }))
  const servers = { s: { transport: 'stdio', command: ['s'], env: [] } }
  const started = '2026-11-17T00:00:00.000Z'
  const header = { reelay: 1, id: '01KABCDEFGHJKMNPQRSTVWXYZ0', started, by: 'build', servers }
  const n = frames.length + 1
  return [header, ...frames, { n, t: n, event: 'end', frames: n }]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')
}

/**
 * A file of modules. Each is a function that runs when something of the module is first used, because a command uses few of the
 * modules that it can reach. Every use of an import is a call: `require_text.shorten(…)` becomes `module12().shorten(…)`. So
 * are the uses of Node's own modules. `shared` has the modules of the files that are loaded, and `load` loads another file.
 */
function script(names, modules, { isTraced = false } = {}) {
  const [externals, others] = [new Map(), new Map()]
  const accessorIn = (name) => (specifier) => {
    if (!specifier.startsWith('.')) {
      if (!externals.has(specifier)) externals.set(specifier, `external${externals.size}`)
      return externals.get(specifier)
    }
    const imported = posix.join(posix.dirname(name), specifier)
    const { accessor, file } = modules.get(imported)
    if (!names.includes(imported)) others.set(accessor, file)
    return accessor
  }
  const own = names.map((name) => {
    const { code, accessor } = modules.get(name)
    const trace = isTraced
      ? `require("node:fs").appendFileSync(process.env.REELAY_TRACE, ${JSON.stringify(`${name}\n`)});`
      : ''
    return `${lazily(accessor, `run_${accessor}(loaded_${accessor} = {})`, `shared.${accessor} ??=`)}
function run_${accessor}(exports) {${trace}\n${withLazyImports(code, accessorIn(name))}\nreturn exports;\n}`
  })
  const otherFiles = Array.from(others, ([accessor, file]) =>
    lazily(accessor, `(loaded_${accessor} = (shared.${accessor} ?? load("./${file}").${accessor})())`),
  )
  const external = Array.from(externals, ([specifier, accessor]) =>
    lazily(accessor, `(loaded_${accessor} = require(${JSON.stringify(specifier)}))`),
  )
  const lines = [...external, ...otherFiles, ...own]
  return shrunk(`(function (shared, load, require, __filename) {\n${withVendored(lines.join('\n'))}\n})`)
}

/** Declares a function that returns what is loaded, and loads it at the first call. */
function lazily(accessor, load, known = '') {
  return `let loaded_${accessor}; const ${accessor} = ${known} (() => loaded_${accessor} ?? ${load});`
}

/** Removes the imports at the top of a module, and calls the accessor of the imported module instead of using its variable. */
function withLazyImports(code, accessorOf) {
  const { body } = parseAst(code, { lang: 'js', sourceType: 'script' })
  const edits = []
  const imported = new Map()
  for (const node of body) {
    // Our modules do nothing but define things, so an import without a name can be left out.
    if (node.type === 'ExpressionStatement' && requiredBy(node.expression)?.startsWith('.'))
      edits.push({ ...node, text: '' })
    const [declared] = node.declarations ?? []
    const specifier = requiredBy(declared?.init)
    if (specifier === undefined) continue
    imported.set(declared.id.name, accessorOf(specifier))
    edits.push({ ...node, text: '' })
  }
  const isRemoved = ({ start, end }) => edits.some((edit) => edit.start <= start && end <= edit.end)
  for (const node of nodesIn(body)) {
    const specifier = requiredBy(node)
    const accessor = specifier?.startsWith('.') ? accessorOf(specifier) : imported.get(node.name)
    if (accessor !== undefined && !isRemoved(node)) edits.push({ ...node, text: `(${accessor}())` })
  }
  let edited = code
  for (const { start, end, text } of edits.toSorted((a, b) => b.start - a.start))
    edited = edited.slice(0, start) + text + edited.slice(end)
  return edited
}

/** The argument of `require("…")`. */
function requiredBy(node) {
  return node?.type === 'CallExpression' && node.callee.name === 'require'
    ? node.arguments[0].value
    : undefined
}

/** Every node, without the names of members. */
function* nodesIn(node) {
  if (typeof node?.type === 'string') yield node
  for (const [key, value] of Object.entries(node ?? {})) {
    const isName = (key === 'property' || key === 'key') && !node.computed
    if (typeof value === 'object' && !isName) yield* nodesIn(value)
  }
}

/** What is shorter, and all ASCII, is read and compiled faster. Names of functions stay, for the stacks in reports of faults. */
function shrunk(text) {
  const { code } = minifySync(PROGRAM, text, { compress: false, mangle: { keepNames: true } })
  return code.replace(/;\s*$/, '').replaceAll(/[^\0-\x7f]/g, escaped)
}

/** In strings, templates and patterns it means the same. */
function escaped(unit) {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** What the user starts: it runs the program, from V8's code cache where it can. */
function launcher(program) {
  return `#!/usr/bin/env node\n${readFileSync(join(program, 'launch.cjs'), 'utf8').replace(/^\/\/# sourceMapping.*$/m, '')}`
}

/** Dependencies that are loaded only where they are needed, and the files that hold them in the package. */
const VENDORED = {
  'cross-spawn': 'cross-spawn.cjs',
  'jsonc-parser': 'jsonc-parser.cjs',
  '@peculiar/x509': 'x509.cjs',
  yaml: 'yaml.cjs',
  'ajv/dist/2020.js': 'ajv.cjs',
}

export const VENDORED_NAMES = Object.keys(VENDORED)

/**
 * Packs each dependency into one file, so that the package needs no other one, and `npx ./reelay-*.tgz` works without a network.
 * The names are listed, because Node finds the names of a CommonJS file only where they are assigned.
 */
export async function packDependencies(folder) {
  const load = createRequire(import.meta.url)
  mkdirSync(folder, { recursive: true })
  const packages = new Set()
  for (const [name, file] of Object.entries(VENDORED)) {
    const loaded = load(name)
    const names = typeof loaded === 'function' ? [] : Object.keys(loaded).filter((each) => each !== 'default')
    const entry = join(folder, `${file}.mjs`)
    const source = JSON.stringify(name)
    const whole = `import whole from ${source}\nexport default whole\n`
    writeFileSync(entry, names.length === 0 ? whole : `export { ${names.join(', ')} } from ${source}\n`)
    // The UMD form of a package finds its parts at run time, and cannot be packed.
    const resolve = { mainFields: ['module', 'main'] }
    const bundle = await rolldown({ input: entry, platform: 'node', resolve, onLog: () => {} })
    const { output } = await bundle.write({ file: join(folder, file), format: 'cjs' })
    for (const each of output.flatMap(({ moduleIds = [] }) => moduleIds)) packages.add(packageFolder(each))
    rmSync(entry)
  }
  for (const name of IN_THE_PROGRAM) packages.add(packageFolder(load.resolve(name)))
  const licenses = [...packages]
    .filter((each) => each !== undefined)
    .toSorted((a, b) => a.localeCompare(b))
    .map(licenseOf)
  writeFileSync(join(folder, 'LICENSES'), licenses.join('\n'))
}

/** Dependencies that are part of `dist/cli`, and of the page in `dist/ui`. */
const IN_THE_PROGRAM = [
  'commander',
  'toml-eslint-parser',
  'eslint-visitor-keys',
  'ajv-formats',
  'preact',
  '@preact/signals',
  '@preact/signals-core',
  '@tanstack/virtual-core',
  'uplot',
  'diff',
]

/** The folder of the package that a file belongs to. */
function packageFolder(file) {
  return /^.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0]
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[sc]e/i.test(each))
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim()
  return `${name} ${version}, ${license}\n\n${text}\n`
}

/** Loads the packed dependencies in place of those of `node_modules`. */
export function withVendored(code) {
  return code
    .replaceAll(VENDORED_NAME, (_, call, name) => `${call}("../vendor/${VENDORED[name]}")`)
    .replaceAll(`"${AJV}"`, `"../vendor/${VENDORED[AJV]}"`)
}

/** A name that can mean nothing else, loaded by a function that is made on the spot. */
const AJV = 'ajv/dist/2020.js'

const VENDORED_NAME = new RegExp(`(require|requireSync|import)\\("(${VENDORED_NAMES.join('|')})"\\)`, 'g')
