import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { expect, test } from 'vitest'

// What each folder of src may import. Read it bottom-up: a folder imports only folders above it.
const ROOT_FILES = ['errors', 'version', 'text', 'seeded-random', 'histogram']
const MEANING = [
  ...ROOT_FILES,
  'json',
  'protocol',
  'tape',
  'redact',
  'match',
  'bindings',
  'diff',
  'faults',
  'filter',
  'schemas',
]
const JOBS = [
  'record',
  'serve',
  'replay',
  'share',
  'convert',
  'wrap',
  'compare',
  'load',
  'chaos',
  'scenario',
  'shrink',
  'vary',
  'report',
]
const MAY_IMPORT: Record<string, readonly string[]> = {
  json: ['text', 'errors'],
  protocol: ['json', 'text', 'errors'],
  tape: ['protocol', 'json', 'text', 'errors'],
  redact: ['tape', 'protocol', 'json', 'text', 'errors'],
  match: ['tape', 'protocol', 'json', 'text', 'errors'],
  bindings: ['tape', 'protocol', 'json', 'text', 'errors'],
  diff: ['protocol', 'json', 'text', 'errors'],
  schemas: ['redact', 'json', 'text', 'errors'],
  faults: ['match', 'tape', 'protocol', 'json', 'seeded-random', 'text', 'errors'],
  filter: ['redact', 'protocol', 'json', 'text', 'errors'],
  store: ['match', 'redact', 'tape', 'protocol', 'json', 'text', 'errors'],
  config: ['store', 'redact', 'protocol', 'json', 'text', 'errors'],
  http: ['protocol', 'json', 'text', 'errors'],
  link: ['http', 'protocol', 'json', 'text', 'errors'],
  control: ['http', 'store', 'protocol', 'json', 'text', 'version', 'errors'],
  record: [
    'faults',
    'seeded-random',
    'filter',
    'control',
    'config',
    'redact',
    'store',
    'link',
    'http',
    'tape',
    'protocol',
    'json',
    'text',
    'version',
    'errors',
  ],
  serve: [
    ...MEANING.filter((each) => !['diff', 'bindings'].includes(each)),
    'config',
    'store',
    'link',
    'http',
  ],
  replay: [...MEANING, 'config', 'store', 'link', 'http', 'control', 'record'],
  convert: [
    'record',
    'share',
    'store',
    'http',
    'bindings',
    'tape',
    'protocol',
    'json',
    'text',
    'version',
    'errors',
  ],
  share: ['serve', 'config', 'redact', 'store', 'tape', 'protocol', 'json', 'text', 'errors'],
  wrap: ['store', 'link', 'http', 'tape', 'protocol', 'json', 'text', 'version', 'errors'],
  compare: [...MEANING, 'config', 'store', 'link', 'http', 'replay'],
  load: [...MEANING, 'store', 'link', 'replay'],
  chaos: [...MEANING, 'seeded-random', 'store', 'link', 'record', 'serve'],
  scenario: [...MEANING, 'store', 'link', 'replay'],
  shrink: [...MEANING, 'store', 'link', 'replay'],
  vary: [...MEANING, 'seeded-random', 'store', 'link', 'http', 'replay', 'shrink'],
  report: [...MEANING, 'store', 'replay', 'compare', 'load', 'chaos', 'shrink', 'vary'],
  auto: [...MEANING, 'record', 'serve', 'store', 'http'],
  testing: [...MEANING, ...JOBS, 'store', 'link', 'http'],
  demo: [...MEANING, ...JOBS, 'store', 'link', 'http'],
  cli: [...MEANING, ...JOBS, 'config', 'store', 'link', 'http', 'control', 'demo', 'auto', 'index'],
}
const RUNS_IN_BROWSER = [
  'json',
  'protocol',
  'tape',
  'redact',
  'match',
  'bindings',
  'diff',
  'faults',
  'filter',
  'schemas',
]

interface Import {
  file: string
  folder: string
  specifier: string
  target: string
}

const topFolder = (path: string): string => path.split(sep)[0]?.replace(/\.ts$/, '') ?? ''

const sourceFiles = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.includes(sep) && /(?<!\.test)\.ts$/.test(file),
)

const imports: Import[] = sourceFiles.flatMap((file) =>
  [...readFileSync(join('src', file), 'utf8').matchAll(/\b(?:from|import)\s*\(?\s*'([^']+)'/g)].map(
    ([, specifier = '']) => ({
      file,
      folder: topFolder(file),
      specifier,
      target: specifier.startsWith('.') ? topFolder(join(dirname(file), specifier)) : specifier,
    }),
  ),
)

test('every folder imports only the folders its row allows', () => {
  const outOfBounds = imports.filter(
    ({ folder, specifier, target }) =>
      specifier.startsWith('.') && target !== folder && !MAY_IMPORT[folder]?.includes(target),
  )
  expect(outOfBounds.map(({ file, target }) => `${file} -> ${target}`)).toEqual([])
})

test('folders that the web UI shares stay free of Node', () => {
  const nodeOnly = imports.filter(
    ({ folder, specifier }) => RUNS_IN_BROWSER.includes(folder) && specifier.startsWith('node:'),
  )
  expect(nodeOnly.map(({ file, specifier }) => `${file} -> ${specifier}`)).toEqual([])
  const files = sourceFiles.filter((file) => RUNS_IN_BROWSER.includes(topFolder(file)))
  expect(files.filter(usesNodeGlobals)).toEqual([])
})

function usesNodeGlobals(file: string): boolean {
  return /\b(Buffer|process)[.(]/.test(readFileSync(join('src', file), 'utf8'))
}

test('every row names a folder that exists, and every folder has a row', () => {
  const folders = readdirSync('src', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  expect(folders.map((entry) => entry.name).toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted())
})

test('no MCP SDK is imported at run time', () => {
  const sdk = imports.filter(({ specifier }) => specifier.startsWith('@modelcontextprotocol/'))
  expect(sdk.map(({ file }) => file)).toEqual([])
})
