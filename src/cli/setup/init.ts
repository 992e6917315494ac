import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject, member, parseJson } from '../../json/parse.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { print } from '../output/print.ts'
import { quoteShellWord } from '../../text.ts'
import { VERSION } from '../../version.ts'
import { packageFolder, withDocsPaths } from '../reelay-command.ts'

export const initCommand: CommandDefinition = defineCommand<Record<string, never>>({
  name: 'init',
  options: {},
  notes:
    'Files that exist are never changed, except that lines are added to .gitattributes. Nothing is asked.',
  run: () => {
    const runner = findRunner()
    const lines = [
      writeNew('reelay.config.yaml', CONFIG),
      addLine('.gitattributes', '*.tape.jsonl diff=reelay'),
      writeNew(join('__tapes__', 'README.md'), TAPES),
      ...(runner === undefined
        ? [
            'skipped   an example test and a CI workflow (there is no package.json); see docs/reference/test.md',
          ]
        : [
            writeNew(runner.file, runner.test),
            writeNew(join('.github', 'workflows', 'reelay.yml'), workflow(runner)),
          ]),
    ]
    print(withDocsPaths(`${lines.join('\n')}\n\n${nextSteps(runner)}`))
  },
})

interface FoundRunner {
  readonly name: string
  /** The example test. */
  readonly file: string
  readonly test: string
  /** The command that runs the tests in CI. */
  readonly command: string
  /** The commands that install what the example needs and the project does not name. */
  readonly install: readonly string[]
  readonly isPython?: true
}

/** The test runner of the project, by its package.json, or by the files of pytest. */
function findRunner(): FoundRunner | undefined {
  if (!existsSync('package.json'))
    return PYTHON_FILES.some((file) => existsSync(file))
      ? { ...PYTEST, install: [packCommand(), `pip install pytest mcp ${PYTHON_PLUGIN}`] }
      : undefined
  const manifest = parseJson(readFileSync('package.json', 'utf8'))
  const isInstalled = (name: string): boolean =>
    ['dependencies', 'devDependencies'].some(
      (kind) => isObject(member(manifest, kind)) && member(member(manifest, kind), name) !== undefined,
    )
  const sdk = isInstalled('@modelcontextprotocol/client')
    ? '@modelcontextprotocol/client'
    : '@modelcontextprotocol/sdk/client/index.js'
  const needsReelay = !isInstalled('reelay')
  const missing = [sdk.split('/').slice(0, 2).join('/')].filter((name) => !isInstalled(name))
  const needed = [...(needsReelay ? [`./${PACKAGE_FILE}`] : []), ...missing]
  const install = [
    ...(needsReelay ? [packCommand()] : []),
    ...(needed.length === 0 ? [] : [`npm install --save-dev ${needed.join(' ')}`]),
  ]
  if (isInstalled('vitest'))
    return {
      name: 'Vitest',
      file: 'reelay.example.test.mjs',
      test: vitestExample(sdk),
      command: 'npx vitest run',
      install,
    }
  if (isInstalled('jest'))
    return {
      name: 'Jest',
      file: member(manifest, 'type') === 'module' ? 'reelay.example.test.cjs' : 'reelay.example.test.js',
      test: jestExample(sdk),
      command: 'npx jest',
      install,
    }
  if (isInstalled('@playwright/test'))
    return {
      name: 'Playwright',
      file: 'reelay.example.spec.mjs',
      test: playwrightExample(sdk),
      command: 'npx playwright test',
      install,
    }
  return {
    name: 'node:test',
    file: 'reelay.example.test.mjs',
    test: nodeExample(sdk),
    command: 'node --test',
    install,
  }
}

/** Reelay is not in the npm registry yet, so projects install it from this file. */
const PACKAGE_FILE = `reelay-${VERSION}.tgz`
const PYTHON_PLUGIN = `"file://$PWD/${PACKAGE_FILE}#subdirectory=python"`

function packCommand(): string {
  const folder = packageFolder()
  const command = folder === undefined ? 'npm pack' : `npm pack --ignore-scripts ${quoteShellWord(folder)}`
  const where = folder === undefined ? ', run in a clone and copied here: docs/how-to/install.md' : ''
  return `${command}    # writes ${PACKAGE_FILE}, which CI needs too: commit it${where}`
}

const PYTHON_FILES = ['pyproject.toml', 'pytest.ini', 'setup.cfg', 'requirements.txt']

function writeNew(path: string, text: string): string {
  if (existsSync(path)) return `kept      ${path} (it exists)`
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { flag: 'wx' })
  return `created   ${path}`
}

function addLine(path: string, line: string): string {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (before.split(/\r?\n/).includes(line)) return `kept      ${path} (it has the line)`
  writeFileSync(path, `${before}${before === '' || before.endsWith('\n') ? '' : '\n'}${line}\n`)
  return `${before === '' ? 'created ' : 'extended'}  ${path}`
}

function nextSteps(runner: FoundRunner | undefined): string {
  const install = (runner?.install ?? []).map((command) => `  ${command}\n`).join('')
  const example =
    runner === undefined ? '' : `  ${runner.command}    # records ${runner.file} once, with ${runner.name}\n`
  return `Next:
${install}${example}  git config diff.reelay.command 'reelay diff --git-driver'    # git diff shows what changed in a session
  git config diff.reelay.textconv 'reelay inspect -v'          # git show and git log -p show sessions as text
  commit reelay.config.yaml, .gitattributes${runner === undefined ? '' : ', .github'} and the tapes in __tapes__
`
}

const TAPES = `# Tapes

Recorded MCP sessions that the tests replay instead of starting servers. Commit them, and look at a new one once before you do.
Record one again with \`REELAY_MODE=rewrite\`.
`

const CONFIG = `# yaml-language-server: $schema=node_modules/reelay/schema/config-1.json
# Settings for all tapes of this project: docs/reference/config.md of Reelay.
replay:
  validation:
    ignore: []
`

/** The demo server of Reelay, so that the example runs as it is. */
const LIVE = "{ live: { command: 'npx', args: ['reelay', 'demo', '--server'] } }"

const body = (tape: string): string => `  const client = new Client({ name: 'example', version: '1.0.0' })
  await client.connect(await ${tape}.transport())
  const result = await client.callTool({ name: 'weather', arguments: { city: 'Oslo' } })`

const vitestExample = (
  sdk: string,
): string => `// An example that records the demo server of Reelay. Put the command of your server in its place.
import { Client } from '${sdk}'
import { expect, test } from 'vitest'
import { useTape } from 'reelay/vitest'

test('the weather in Oslo', async () => {
  const tape = await useTape(${LIVE})
${body('tape')}
  expect(result.content[0].text).toContain('Oslo')
  expect(tape).toHaveCalled('weather', { city: 'Oslo' })
})
`

const jestExample = (
  sdk: string,
): string => `// An example that records the demo server of Reelay. Put the command of your server in its place.
const { Client } = require('${sdk}')
const { useTape } = require('reelay/jest')

test('the weather in Oslo', async () => {
  const tape = await useTape(${LIVE})
${body('tape')}
  expect(result.content[0].text).toContain('Oslo')
  expect(tape).toHaveCalled('weather', { city: 'Oslo' })
})
`

const playwrightExample = (
  sdk: string,
): string => `// An example that records the demo server of Reelay. Put the command of your server in its place.
import { Client } from '${sdk}'
import { test as base, expect as baseExpect } from '@playwright/test'
import { tapeFixtures, tapeMatchers } from 'reelay/playwright'

const test = base.extend(tapeFixtures)
const expect = baseExpect.extend(tapeMatchers)

test('the weather in Oslo', async ({ useTape }) => {
  const tape = await useTape(${LIVE})
${body('tape')}
  expect(result.content[0].text).toContain('Oslo')
  expect(tape).toHaveCalled('weather', { city: 'Oslo' })
})
`

const nodeExample = (
  sdk: string,
): string => `// An example that records the demo server of Reelay. Put the command of your server in its place.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Client } from '${sdk}'
import { expectTape, useTape } from 'reelay/node-test'

test('the weather in Oslo', async (test) => {
  const tape = await useTape({ test, ${LIVE.slice(2)})
${body('tape')}
  assert.match(result.content[0].text, /Oslo/)
  expectTape(tape).toHaveCalled('weather', { city: 'Oslo' })
})
`

const PYTEST: Omit<FoundRunner, 'install'> = {
  name: 'pytest',
  file: 'test_reelay_example.py',
  command: 'pytest',
  isPython: true,
  test: `# An example that records the demo server of Reelay. Put the command of your server in its place.
import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def ask(server):
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        return await session.call_tool("weather", {"city": "Oslo"})


def test_the_weather_in_oslo(reelay_tape):
    tape = reelay_tape(live=["reelay", "demo", "--server"])
    result = anyio.run(ask, StdioServerParameters(**tape.stdio()))
    assert "Oslo" in result.content[0].text
`,
}

const NODE_STEPS = `      - run: npm ci
`

const pythonSteps = (): string => `      - uses: actions/setup-python@v5
        with:
          python-version: '3.12'
      - run: npm install --global ./${PACKAGE_FILE}
      - run: pip install pytest mcp ${PYTHON_PLUGIN}${existsSync('requirements.txt') ? ' -r requirements.txt' : ''}
`

/** CI replays only, so it needs no key and no server. */
function workflow({ command, isPython }: FoundRunner): string {
  return `name: reelay
on: [push, pull_request]
permissions:
  contents: read
jobs:
  tests:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: 22
${isPython ? pythonSteps() : NODE_STEPS}      # Tests replay the tapes in __tapes__. Nothing is recorded in CI.
      - run: ${command}
`
}
