import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { installRunners } from '../../scripts/runners.mjs'
import { REELAY, temporaryFolder } from '../support/recorder.ts'
import { makeApp, runNode, runProgram } from '../testing/runner-app.ts'

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
  '__tapes__/README.md',
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
    // The config of init sets nothing yet, so that it is not worth a line.
    const config = readFileSync(join(app, 'reelay.config.yaml'), 'utf8')
    const verify = [REELAY, 'verify', join(app, tapeIn(app)), '--dry-run', '--', 'node', 'server.mjs']
    expect((await runNode(verify, { cwd: app })).out).not.toContain('using the config')
    writeFileSync(join(app, 'reelay.config.yaml'), config.replace('ignore: []', 'ignore: [a]'))
    expect((await runNode(verify, { cwd: app })).out).toContain('using the config')
    const again = await runNode([REELAY, 'init'], { cwd: app })
    expect(again.out.match(/^kept/gm)).toHaveLength(5)
  },
)

/** The tape that the example has recorded. */
function tapeIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true }).map(String)
  const found = files.find((file) => file.endsWith('.tape.jsonl') && !file.includes('node_modules'))
  if (found === undefined) throw new Error('nothing was recorded')
  return found
}

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

test('init names what has to be installed, imports the SDK that is there, and knows pytest', async () => {
  const folder = temporaryFolder()
  const manifest = {
    devDependencies: { jest: '30', reelay: '1' },
    dependencies: { '@modelcontextprotocol/client': '2' },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const { out } = await runNode([REELAY, 'init'], { cwd: folder })
  expect(out).not.toContain('npm install')
  const example = readFileSync(join(folder, 'reelay.example.test.js'), 'utf8')
  expect(example).toContain("require('@modelcontextprotocol/client')")
  const other = temporaryFolder()
  writeFileSync(join(other, 'package.json'), '{}')
  const bare = await runNode([REELAY, 'init'], { cwd: other })
  expect(bare.out).toMatch(/^ {2}npm pack --ignore-scripts \S+ +# writes reelay-\S+\.tgz/m)
  expect(bare.out).toMatch(/^ {2}npm install --save-dev \.\/reelay-\S+\.tgz @modelcontextprotocol\/sdk$/m)
  const python = temporaryFolder()
  writeFileSync(join(python, 'pyproject.toml'), '')
  expect((await runNode([REELAY, 'init'], { cwd: python })).out).toContain('created   test_reelay_example.py')
})

test('the commands that init prints for a Python project work without a registry that has Reelay', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'requirements.txt'), '')
  const { out } = await runNode([REELAY, 'init'], { cwd: folder })
  const [, pack = ''] = /^ {2}(npm pack .*?) +#/m.exec(out) ?? []
  const [, plugin = ''] = /^ {2}pip install pytest mcp (.*)$/m.exec(out) ?? []
  expect((await runProgram(['sh', '-c', pack], { cwd: folder })).code).toBe(0)
  expect(readdirSync(folder)).toContain(`reelay-${VERSION}.tgz`)
  const archive = await runProgram(['tar', '-tzf', `reelay-${VERSION}.tgz`], { cwd: folder })
  expect(archive.out).toContain('package/python/pyproject.toml')
  expect(archive.out).toContain('package/python/src/pytest_reelay/__init__.py')
  expect(plugin).toBe(`"file://$PWD/reelay-${VERSION}.tgz#subdirectory=python"`)
  const steps = readFileSync(join(folder, '.github/workflows/reelay.yml'), 'utf8')
  expect(steps).toContain(`- run: npm install --global ./reelay-${VERSION}.tgz\n`)
  expect(steps).toContain(`- run: pip install pytest mcp ${plugin} -r requirements.txt\n`)
})

test('git shows what changed in a session with the two commands that init prints', async () => {
  const folder = temporaryFolder()
  const git = (...args: readonly string[]): ReturnType<typeof runProgram> =>
    runProgram(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder })
  await git('init', '-q')
  const { out } = await runNode([REELAY, 'init'], { cwd: folder })
  const reelay = `'${process.execPath}' '${REELAY}'`
  for (const [, name = '', value = ''] of out.matchAll(/git config (\S+) 'reelay (.*)'/g))
    await git('config', name, `${reelay} ${value}`)
  const tape = 'triage.tape.jsonl'
  const text = readFileSync('examples/agent-offline-test/__tapes__/triage.tape.jsonl', 'utf8')
  writeFileSync(join(folder, tape), text)
  await git('add', '.')
  await git('commit', '-qm', 'before')
  writeFileSync(join(folder, tape), text.replaceAll('is slow', 'is quick'))
  expect((await git('diff')).out).toMatch(/tools\/call search_issues[^]*quick/)
  await git('commit', '-qam', 'after')
  expect((await git('show')).out).toMatch(/^\+.*Login page is quick/m)
})
