import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, test } from 'vitest'
import { randomTools } from '../../scripts/contracts/random-schemas.mjs'
import { seededRandom } from '../seeded-random.ts'
import { compareSchemas } from './compatibility.ts'
import { SchemaDocument } from './schema-document.ts'

const CASES = Math.max(60, Number(process.env['REELAY_CASES'] ?? 0))

test(
  'no value contradicts a verdict: safe schemas accept all that they accepted, and a witness is one',
  () => {
    const seed = Number(process.env['REELAY_SEED'] ?? 19)
    const tools = randomTools(seededRandom(seed))
    const contradictions: unknown[] = []
    const counts = { same: 0, safe: 0, breaking: 0, unknown: 0 }
    for (let at = 0; at < CASES; at++) {
      const before: unknown = tools.schema()
      const after: unknown = tools.chance(0.85) ? tools.changed(before) : tools.schema()
      const verdict = compareSchemas(before, after, { time: 400 })
      counts[verdict.kind]++
      const [old, now] = [new SchemaDocument(before), new SchemaDocument(after)]
      const isSafe = verdict.kind === 'safe' || verdict.kind === 'same'
      const values = isSafe ? Array.from({ length: 300 }, () => tools.value(3)) : []
      const broken = values.find((value) => old.accepts(value) === true && now.accepts(value) === false)
      if (broken !== undefined) contradictions.push({ before, after, value: broken })
      const witnesses = verdict.kind === 'breaking' ? verdict.witnesses : []
      const wrong = witnesses.find(({ value }) => old.accepts(value) !== true || now.accepts(value) !== false)
      if (wrong !== undefined) contradictions.push({ before, after, value: wrong.value })
    }
    expect(contradictions).toEqual([])
    expect(counts.safe).toBeGreaterThan(CASES / 20)
    expect(counts.breaking).toBeGreaterThan(CASES / 20)
    if (process.env['REELAY_CASES'] !== undefined) console.log(counts)
  },
  60_000 + CASES * 100,
)

test('a schema with a format or a keyword that is not known is only called safe if it is, whatever they mean', () => {
  const tools = randomTools(seededRandom(Number(process.env['REELAY_SEED'] ?? 20)), { unknown: true })
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false })
  formats.default(ajv, { mode: 'full' })
  ajv.addFormat('x-even', (text) => text.length % 2 === 0)
  ajv.addKeyword({ keyword: 'x-not', validate: (refused: unknown, value: unknown) => refused !== value })
  const contradictions: unknown[] = []
  let safe = 0
  for (let at = 0; at < CASES; at++) {
    const before = tools.schema() as object
    const after = tools.changed(before) as object
    const verdict = compareSchemas(before, after, { time: 400 })
    if (verdict.kind !== 'safe') continue
    safe++
    const [old, now] = [ajv.compile({ ...before }), ajv.compile({ ...after })]
    const values = Array.from({ length: 300 }, () => tools.value(3))
    const broken = values.find((value) => old(value) && !now(value))
    if (broken !== undefined) contradictions.push({ before, after, value: broken })
  }
  expect(contradictions).toEqual([])
  expect(safe).toBeGreaterThan(0)
}, 60_000)
