import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { installRunners } from '../../scripts/runners.mjs'
import { REELAY, temporaryFolder } from '../support/recorder.ts'
import { makeApp, runNode } from '../testing/runner-app.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

let app: string
beforeAll(() => {
  installRunners()
  app = makeApp({})
})
afterAll(() => rmSync(app, { recursive: true, force: true }))

const FILES = [
  'reelay.config.yaml',
  '.gitattributes',
  'reelay.example.test.mjs',
  '.github/workflows/reelay.yml',
]

test.each([
  ['Vitest', { devDependencies: { vitest: '4' } }, [resolve('node_modules/vitest/vitest.mjs'), 'run']],
  ['node:test', {}, ['--test', 'reelay.example.test.mjs']],
])(
  'init in a project with %s makes an example that records, and then replays in CI',
  async (_, manifest, run) => {
    for (const file of [...FILES, '__tapes__']) rmSync(join(app, file), { recursive: true, force: true })
    writeFileSync(join(app, 'package.json'), JSON.stringify({ type: 'module', ...manifest }))
    const made = await runNode([REELAY, 'init'], { cwd: app })
    expect(made.code).toBe(0)
    for (const file of FILES) expect(existsSync(join(app, file))).toBe(true)
    expect(await runNode(run, { cwd: app })).toMatchObject({ code: 0 })
    expect(await runNode(run, { cwd: app, env: { CI: '1', PATH: '/nonexistent' } })).toMatchObject({
      code: 0,
    })
    const again = await runNode([REELAY, 'init'], { cwd: app })
    expect(again.out.match(/^kept/gm)).toHaveLength(4)
  },
)

test('init keeps what is there, and works without a package.json', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, '.gitattributes'), '*.png binary')
  const { code, out } = await runNode([REELAY, 'init'], { cwd: folder })
  expect(code).toBe(0)
  expect(readFileSync(join(folder, '.gitattributes'), 'utf8')).toBe(
    '*.png binary\n*.tape.jsonl diff=reelay\n',
  )
  expect(out).toContain('skipped   an example test and a CI workflow (there is no package.json)')
  expect(existsSync(join(folder, '.github'))).toBe(false)
})
