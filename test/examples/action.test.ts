import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { actionlint, installRunners } from '../../scripts/runners.mjs'
import { makeApp, runProgram } from '../testing/runner-app.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

interface Step {
  readonly name: string
  readonly if?: string
  readonly run?: string
  readonly uses?: string
  readonly env?: Readonly<Record<string, string>>
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

const ACTION = parse(readFileSync('action.yml', 'utf8')) as Action

let app: string
beforeAll(() => {
  installRunners()
  app = makeApp({})
  cpSync('examples/server-regression-gate', app, { recursive: true })
})
afterAll(() => rmSync(app, { recursive: true, force: true }))

/** actionlint reads workflows only, so the steps are put into a job with the same inputs. */
test('actionlint finds nothing in the steps of the action, and in the workflow of the docs', async () => {
  const { createLinter } = (await import(actionlint)) as {
    createLinter: () => Promise<(text: string, path: string) => readonly object[]>
  }
  const lint = await createLinter()
  const inputs = Object.fromEntries(
    Object.entries(ACTION.inputs).map(([name, input]) => [name, { ...input, type: 'string' }]),
  )
  const job = { 'runs-on': 'ubuntu-latest', steps: ACTION.runs.steps }
  const steps = stringify({ on: { workflow_call: { inputs } }, jobs: { steps: job } })
  expect(lint(steps, '.github/workflows/steps.yml')).toEqual([])
  expect(lint(steps.replace('inputs.contract', 'inputs.contrct'), 'w.yml')).toHaveLength(1)
  const [, workflow = ''] =
    /```yaml\n(name: [^`]*)```/.exec(readFileSync('docs/how-to/run-in-ci.md', 'utf8')) ?? []
  expect(lint(workflow, '.github/workflows/docs.yml')).toEqual([])
  const used = (parse(workflow) as { jobs: { server: { steps: { with: object }[] } } }).jobs.server.steps.at(
    -1,
  )
  for (const input of Object.keys(used?.with ?? {})) expect(ACTION.inputs).toHaveProperty(input)
})

test.skipIf(process.platform === 'win32')(
  'the steps pass for the recorded server, and fail for another one with reports that say what broke',
  async () => {
    const given = { options: '--allow add_to_cart', contract: 'shop.contract.yaml', 'max-age': '2000d' }
    const passed = await runSteps({ ...given, server: 'node server.mjs' })
    expect(passed).toMatchObject({ codes: [0, 0, 0, 0] })
    const changed = readFileSync(join(app, 'server.mjs'), 'utf8')
      .replace('milk: 1.2', 'milk: 1.3')
      .replace('{ item: z.string() }, annotations }', '{ name: z.string() }, annotations }')
      .replace('({ item }) => result({ item, price', '({ name: item }) => result({ item, price')
    writeFileSync(join(app, 'changed.mjs'), changed)
    const failed = await runSteps({ ...given, server: 'node changed.mjs' })
    expect(failed).toMatchObject({ codes: [0, 1, 1, 0] })
    expect(failed.out).toMatch(/^::error .*tools\/call total/m)
    expect(failed.summary).toContain('recorded-call-rejected')
    expect(readdirSync(join(app, 'reelay-reports')).toSorted()).toEqual([
      'contract.html',
      'contract.junit.xml',
      'contract.md',
      'contract.sarif',
      'shop.annotations.txt',
      'shop.html',
      'shop.junit.xml',
      'shop.md',
      'shop.sarif',
    ])
    const old = await runSteps({ server: 'node server.mjs', tapes: 'tapes/*', 'max-age': '2020-01-01' })
    expect(old.codes[0]).toBe(0)
    expect((await runSteps({ server: 'node server.mjs', tapes: 'none/*', 'max-age': '' })).codes[0]).toBe(1)
  },
)

/** Does what a runner of GitHub does with the steps that have a script. */
async function runSteps(
  given: Readonly<Record<string, string>>,
): Promise<{ readonly codes: readonly (number | null)[]; readonly out: string; readonly summary: string }> {
  const inputs = Object.fromEntries(
    Object.entries(ACTION.inputs).map(([name, { default: value }]) => [name, given[name] ?? value]),
  )
  const filled = (text: string): string =>
    text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name: string) => inputs[name] ?? '')
  const summary = join(app, 'summary.md')
  rmSync(summary, { force: true })
  const codes: (number | null)[] = []
  let out = ''
  for (const step of ACTION.runs.steps) {
    const needs = /inputs\.([\w-]+) != ''/.exec(step.if ?? '')?.[1]
    if (step.run === undefined || (needs !== undefined && inputs[needs] === '')) continue
    const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, filled(text)]))
    writeFileSync(join(app, 'step.sh'), step.run)
    const ran = await runProgram(['bash', '--noprofile', '--norc', '-eo', 'pipefail', 'step.sh'], {
      cwd: app,
      env: { CI: 'true', GITHUB_STEP_SUMMARY: summary, ...env },
    })
    codes.push(ran.code)
    out += ran.out
  }
  return { codes, out, summary: existsSync(summary) ? readFileSync(summary, 'utf8') : '' }
}
