// Measures the source tree (files, lines, folders, imports, exported names, cycles) and the three flows through it.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

/** Folders that hold one small file per entry; nobody reads them top to bottom, so they may be longer. */
const REGISTRIES = [
  'faults/kinds',
  'match/comparisons',
  'match/strategies',
  'redact/rules',
  'replay/judge',
  'wrap/clients',
]
const FOLDER_LIMIT = 20
/** Each of these is an entry point of the package, for another test runner, with the same names. */
const DOORS = /^testing\/(vitest|jest|node-test|playwright)\.ts$/
const SMALL_FILE = 25

/** Measures all TypeScript files below `folder` that are not tests. */
export function measureSource(folder) {
  const files = sourceFiles(folder).map((name) => readSource(folder, name))
  const byName = new Map(files.map((file) => [file.name, file]))
  const targets = (file, keep) =>
    [...new Set(file.imports.filter(keep).map(({ to }) => to))].filter((to) => byName.has(to))
  const graph = (keep) => new Map(files.map((file) => [file.name, targets(file, keep)]))
  const everyImport = graph(() => true)
  const loaded = graph(({ typeOnly, lazy }) => !typeOnly && !lazy)
  const lengths = files.map(({ lines }) => lines).toSorted((a, b) => a - b)
  const lines = lengths.reduce((sum, length) => sum + length, 0)
  const importEdges = [...everyImport.values()].reduce((sum, list) => sum + list.length, 0)
  return {
    files: files.length,
    lines,
    medianLines: lengths[Math.floor(lengths.length / 2)],
    longestFile: lengths.at(-1),
    smallFilesPercent: Math.ceil(
      (100 * lengths.filter((length) => length < SMALL_FILE).length) / files.length,
    ),
    importEdges,
    importsPer1000Lines: Math.ceil((1000 * importEdges) / lines),
    largeFolders: largeFolders(files),
    namesDefinedTwice: namesDefinedTwice(files),
    typeCycles: cyclesIn(everyImport),
    loadCycles: cyclesIn(loaded),
  }
}

/** Counts what one message runs through in the built library below `root`: record, serve over HTTP, replay with a binding. */
export function measureFlows(root, verbose = false) {
  const program = fileURLToPath(new URL('flows.mjs', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, [program, root, ...(verbose ? ['--verbose'] : [])], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) throw new Error(`${program} ended with ${status}`)
  const { record, serve, replay } = JSON.parse(stdout)
  return {
    recordFiles: record.files,
    recordFunctions: record.functions,
    serveFiles: serve.files,
    serveFunctions: serve.functions,
    replayFiles: replay.files,
    replayFunctions: replay.functions,
  }
}

function sourceFiles(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.c?ts$/.test(name) && !name.endsWith('.test.ts'))
    .map((name) => name.split(sep).join('/'))
    .toSorted()
}

function readSource(folder, name) {
  const text = readFileSync(join(folder, name), 'utf8')
  const program = parseAst(text, { lang: 'ts', sourceType: 'module' }, name)
  const imports = importsOf(program)
    .filter(({ from }) => from.startsWith('.'))
    .map((entry) => ({ ...entry, to: posix.normalize(posix.join(dirname(name), entry.from)) }))
  return {
    name,
    lines: text.replace(/\n$/, '').split('\n').length,
    imports,
    exported: exportedNames(program),
  }
}

function importsOf(program) {
  const found = []
  visit(program, (node) => {
    if (node.type === 'ImportDeclaration')
      found.push({ from: node.source.value, typeOnly: isTypeOnly(node), lazy: false })
    else if (/^Export(Named|All)Declaration$/.test(node.type) && node.source)
      found.push({ from: node.source.value, typeOnly: node.exportKind === 'type', lazy: false })
    else if (node.type === 'ImportExpression' && typeof node.source.value === 'string')
      found.push({ from: node.source.value, typeOnly: false, lazy: true })
    else if (node.type === 'TSImportType')
      found.push({ from: node.source?.value ?? '', typeOnly: true, lazy: false })
  })
  return found
}

function isTypeOnly({ importKind, specifiers }) {
  if (importKind === 'type') return true
  return specifiers.length > 0 && specifiers.every((specifier) => specifier.importKind === 'type')
}

/** Names that a file defines and exports; names that it only passes on are not counted. */
function exportedNames(program) {
  return program.body
    .filter((node) => node.type === 'ExportNamedDeclaration' && node.declaration)
    .flatMap(({ declaration }) => declaration.declarations ?? [declaration])
    .map((declared) => declared.id?.name)
    .filter((name) => name !== undefined)
}

function visit(node, look) {
  if (Array.isArray(node)) for (const item of node) visit(item, look)
  else if (node !== null && typeof node === 'object') {
    if (typeof node.type === 'string') look(node)
    for (const value of Object.values(node)) if (typeof value === 'object') visit(value, look)
  }
}

function largeFolders(files) {
  const counts = new Map()
  for (const { name } of files) counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1)
  return [...counts]
    .filter(([folder, count]) => count > FOLDER_LIMIT && !REGISTRIES.includes(folder))
    .map(([folder, count]) => `${folder}: ${count}`)
    .toSorted()
}

function namesDefinedTwice(files) {
  const places = new Map()
  for (const { name, exported } of files.filter((file) => !DOORS.test(file.name)))
    for (const each of new Set(exported)) places.set(each, [...(places.get(each) ?? []), name])
  return [...places]
    .filter(([, list]) => list.length > 1)
    .map(([name, list]) => `${name}: ${list.join(', ')}`)
    .toSorted()
}

/** Groups of files that import each other, by Tarjan's algorithm. */
function cyclesIn(graph) {
  const numbers = new Map()
  const lowest = new Map()
  const stack = []
  const cycles = []
  const explore = (file) => {
    numbers.set(file, numbers.size)
    lowest.set(file, numbers.get(file))
    stack.push(file)
    for (const next of graph.get(file)) {
      if (!numbers.has(next)) explore(next)
      if (stack.includes(next)) lowest.set(file, Math.min(lowest.get(file), lowest.get(next)))
    }
    if (lowest.get(file) !== numbers.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) cycles.push(group.join(' '))
  }
  for (const file of graph.keys()) if (!numbers.has(file)) explore(file)
  return cycles
}
