import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'

interface Row {
  readonly path: string
  readonly value: string
  readonly shouldBe: boolean
  readonly is: boolean
  readonly holds: boolean
}

interface Judge {
  readonly NAMES: readonly string[]
  readonly judgeTape: (name: string, options?: { confirmed: boolean }) => Promise<readonly Row[]>
  readonly score: (rows: readonly Row[]) => {
    precision: number
    recall: number
    wanted: number
    values: number
  }
}

const { NAMES, judgeTape, score } = (await import(
  pathToFileURL(resolve('bench/bindings/judge.mjs')).href
)) as Judge

async function allRows(confirmed: boolean): Promise<readonly Row[]> {
  return (await Promise.all(NAMES.map((name) => judgeTape(name, { confirmed })))).flat()
}

describe('on sessions whose client says which values it carried over', () => {
  test('at least 98 % of the bindings are right and 95 % are found, from one tape alone', async () => {
    const { precision, recall, wanted, values } = score(await allRows(false))
    expect(wanted).toBeGreaterThanOrEqual(60)
    expect(values - wanted).toBeGreaterThanOrEqual(60)
    expect(precision).toBeGreaterThanOrEqual(0.98)
    expect(recall).toBeGreaterThanOrEqual(0.95)
  })

  test('a second run removes no correct binding', async () => {
    const { precision, recall } = score(await allRows(true))
    expect(precision).toBeGreaterThanOrEqual(0.98)
    expect(recall).toBeGreaterThanOrEqual(0.95)
  })

  test('values that the client generated are sent unchanged', async () => {
    const changed = (await allRows(false)).filter(({ shouldBe, holds }) => !shouldBe && !holds)
    expect(changed).toEqual([])
  })
})
