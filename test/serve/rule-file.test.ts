import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeFaultRule, parseFaultRules } from '../../src/faults/fault-rules.ts'
import { parseOverrides } from '../../src/serve/overrides.ts'
import { readRuleFile } from '../../src/cli/serve/play-options.ts'

test('faults are read from YAML and from JSON alike', async () => {
  const yaml = 'faults:\n  - tool: search # the slow one\n    nth: 2\n    timeout: true\n'
  const json = '{"faults":[{"tool":"search","nth":2,"timeout":true}]}'
  for (const text of [yaml, json]) {
    const { value, locate } = await readRuleFile(fileOf(text))
    expect(parseFaultRules(value, locate).map(describeFaultRule)).toEqual([
      'each call of search (number 2 only) is never answered',
    ])
  }
})

test('what is wrong in a file is named with its line and column', async () => {
  const path = fileOf('faults:\n  - timeout: true\n  - tool: x\n    dellay: 3\n')
  const { value, locate } = await readRuleFile(path)
  expect(() => parseFaultRules(value, locate)).toThrow(`${path}:3:5: unknown key "dellay"`)
  expect(() => parseOverrides(value, locate)).toThrow(`${path}:1:1: expected a list of overrides`)
})

test.each([
  ['faults: [', ':1:'],
  ['faults:\n  - tool: "a\n', ':'],
  [bomb(), ':1:1: Excessive alias count'],
])('a file that is no YAML is refused with the place: %j', async (text, place) => {
  await expect(readRuleFile(fileOf(text))).rejects.toMatchObject({
    code: 'SETTINGS_INVALID',
    message: expect.stringContaining(place),
  })
})

test('a file that is not there is named', async () => {
  await expect(readRuleFile('nowhere.yaml')).rejects.toMatchObject({
    code: 'SETTINGS_INVALID',
    message: expect.stringContaining('nowhere.yaml cannot be read'),
  })
})

function fileOf(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'settings.yaml')
  writeFileSync(path, text)
  return path
}

/** Ten lines that are a hundred million words. */
function bomb(): string {
  const lines = Array.from({ length: 8 }, (_, at) => `x${at + 1}: &x${at + 1} [${`*x${at},`.repeat(10)}]`)
  return ['x0: &x0 [y]', ...lines, 'faults: *x8'].join('\n')
}
