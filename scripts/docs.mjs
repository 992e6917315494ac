// npm run docs: writes what is generated from the source: the lists of commands, the option tables and the kinds of secrets in docs/, docs/reference/errors.md,
// docs/reference/rules.md and schema/config-1.json. `--check` writes nothing and lists what is stale; a test runs it.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { configSchema } from './docs/config-schema.mjs'
import { errorsPage } from './docs/errors-page.mjs'
import { rulesPage } from './docs/rules-page.mjs'
import { withOptionTables } from './docs/option-tables.mjs'
import { commandIndex, commandTable, withCommands } from './docs/command-tables.mjs'
import { withSecretKinds } from './docs/secret-kinds.mjs'
import { root, runTool } from './run.mjs'

const SCHEMA = 'schema/config-1.json'
const ERRORS = 'docs/reference/errors.md'
const RULES_PAGE = 'docs/reference/rules.md'

const { commands, COMMANDS, ERROR_CODES, defaultRules, RULES } = await fromSource(
  ['src/cli/program.ts', 'src/errors.ts', 'src/redact/rules/index.ts', 'src/report/rules.ts'],
  async ([{ loadCommands, COMMANDS: groups }, errors, rules, compare]) => ({
    COMMANDS: groups,
    ...errors,
    ...rules,
    ...compare,
    commands: await loadCommands(),
  }),
)
const pages = readdirSync(join(root, 'docs'), { recursive: true })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name))
const generated = [
  ['README.md', withCommands(read('README.md'), commandTable(COMMANDS))],
  ...pages.map((page) => [page, generatedPage(page)]),
  [ERRORS, errorsPage(ERROR_CODES)],
  [RULES_PAGE, rulesPage(RULES)],
]
const stale = generated.filter(([file, text]) => read(file) !== text)
const schema = configSchema(commands)
const isSchemaStale = !isDeepStrictEqual(JSON.parse(read(SCHEMA)), schema)

if (process.argv.includes('--check')) {
  const names = [...stale.map(([file]) => file), ...(isSchemaStale ? [SCHEMA] : [])]
  if (names.length > 0) process.stdout.write(`npm run docs renews ${names.join(', ')}\n`)
} else {
  for (const [file, text] of stale) writeFileSync(join(root, file), text)
  if (isSchemaStale) {
    writeFileSync(join(root, SCHEMA), JSON.stringify(schema, undefined, 2))
    runTool('oxfmt', [SCHEMA])
  }
}

function generatedPage(page) {
  const text = withCommands(read(page), commandIndex(COMMANDS))
  return withSecretKinds(withOptionTables(text, commands), defaultRules())
}

function read(file) {
  return readFileSync(join(root, file), 'utf8')
}

/** Node cannot run our TypeScript, and the build leaves no module of the commands: they are bundled for this run. */
async function fromSource(files, use) {
  const { rolldown } = await import('rolldown')
  const folder = mkdtempSync(join(root, 'node_modules', '.docs-'))
  try {
    const bundle = await rolldown({
      input: files.map((file) => join(root, file)),
      platform: 'node',
      external: /^[^./]/,
      logLevel: 'silent',
    })
    const { output } = await bundle.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs' })
    const entries = files.map((file) =>
      output.find(({ facadeModuleId }) => facadeModuleId === join(root, file)),
    )
    const modules = entries.map(({ fileName }) => import(pathToFileURL(join(folder, fileName)).href))
    return await use(await Promise.all(modules))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
