import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { folderWith } from '../../test/support/config-folder.ts'
import { findProjectConfig, readProjectConfig } from './project-config.ts'

beforeEach(() => void vi.stubEnv('REELAY_TRUST', '1'))

test('the config of the nearest folder upward is read, and missing sections are undefined', () => {
  const folder = folderWith('reelay.config.json', '{ "match": { "strategy": "exact" }, "replay": null }')
  const inside = join(folder, 'a', 'b')
  mkdirSync(inside, { recursive: true })
  const config = findProjectConfig(inside, 'run')
  expect(config?.file).toBe(join(folder, 'reelay.config.json'))
  expect(config?.section('match')?.value).toEqual({ strategy: 'exact' })
  expect([config?.section('replay'), config?.section('redaction')]).toEqual([undefined, undefined])
})

test('two configs in one folder are refused', () => {
  const folder = folderWith('reelay.config.yaml', '')
  writeFileSync(join(folder, 'reelay.config.mjs'), 'export default {}')
  expect(() => findProjectConfig(folder, 'run')).toThrow(/there are both .*\.yaml and .*\.mjs/)
})

test.each([
  ['reelay.config.mjs', 'export default { match: { strategy: "exact" } }'],
  ['reelay.config.cjs', 'module.exports = { match: { strategy: "exact" } }'],
])('%s is a module that exports the config', (name, text) => {
  const folder = folderWith(name, text)
  expect(readProjectConfig(join(folder, name)).section('match')?.value).toEqual({ strategy: 'exact' })
})

test.each([
  ['reelay.config.mjs', 'throw new Error("not today")', /reelay\.config\.mjs cannot be loaded: not today/],
  ['reelay.config.cjs', 'module.exports = {\n  match: }', /reelay\.config\.cjs, line 2, cannot be loaded: /],
  ['reelay.config.mjs', 'export default await 5', /reelay\.config\.mjs cannot be loaded: /],
  ['reelay.config.mjs', 'export default { replai: {} }', /reelay\.config\.mjs: "replai" is unknown/],
  ['reelay.config.yaml', '- a', /line 1, column 1: it is not a map/],
  ['reelay.config.yaml', 'match: {}\nmatch: {}', /line 2, column 1: Map keys must be unique/],
  ['reelay.config.yaml', 'replay: &a { defaults: *a }', /cannot be read: Converting circular structure/],
  ['reelay.config.yaml', 'replay: *a', /cannot be read: Unresolved alias/],
  ['reelay.config.json', '{"match": [}', /reelay\.config\.json, line 1, column 12: /],
])('%s with %j is refused', (name, text, message) => {
  const folder = folderWith(name, text)
  expect(() => findProjectConfig(folder, 'run')).toThrow(message)
})

test('a config in TypeScript is loaded if Node can, and otherwise refused with a hint', () => {
  const folder = folderWith('reelay.config.ts', 'export default { match: {} } satisfies object')
  const refusal = `${join(folder, 'reelay.config.ts')} is TypeScript, which Node ${process.version} cannot load`
  const loads = Boolean(Reflect.get(process.features, 'typescript'))
  expect(outcomeOf(() => findProjectConfig(folder, 'run')?.section('match') !== undefined)).toBe(
    loads || refusal,
  )
})

test('the error for a missing file names it', () => {
  expect(() => readProjectConfig('no-such.yaml')).toThrow(
    /no-such\.yaml cannot be read: there is no such file/,
  )
})

function outcomeOf(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error instanceof Error ? error.message : error
  }
}
