import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../../test/support/config-folder.ts'
import { redactionConfig } from './redaction-config.ts'
import { saveRedaction } from './save-redaction.ts'

const ADDED = { rules: [], fields: ['customerNumber'], off: [], allow: [] }

test('rules are kept in the config that holds already, also in a folder above, with its comments', async () => {
  const folder = folderWith('reelay.config.yaml', '# ours\nredaction:\n  fields: [ticket]\n')
  const inside = join(folder, 'inside')
  mkdirSync(inside)
  expect(await saveRedaction(inside, ADDED)).toBe(join(folder, 'reelay.config.yaml'))
  expect(redactionConfig(inside)).toEqual({ fields: ['ticket', 'customerNumber'] })
  expect(readFileSync(join(folder, 'reelay.config.yaml'), 'utf8')).toMatch(/^# ours\n/)
})

test('a config that is no YAML is not changed, and gets no second one beside it', async () => {
  const folder = folderWith('reelay.config.json', '{}')
  await expect(saveRedaction(folder, ADDED)).rejects.toThrow(
    `${join(folder, 'reelay.config.json')} cannot be changed: only YAML is changed in place`,
  )
  expect(redactionConfig(folder)).toEqual({})
})
