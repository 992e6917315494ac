// What differs between two answers: one changed leaf beside microdiff, ignored places beside microdiff and a filter, equal texts.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { diffTapes } from '../dist/compare/diff-tapes.js'
import { createDiffer, diffJson } from '../dist/diff/diff.js'
import { parsePath } from '../dist/json/path.js'
import { goal, interleave, median, scratch } from './measure.mjs'
import { peer } from './peer.mjs'

const SIZES = { '4 KB': { rows: 25, times: 4000 }, '1 MB': { rows: 6500, times: 15 } }

export async function diff({ rounds }) {
  const microdiff = (await peer('microdiff', '1.6.0'))?.default
  if (microdiff === undefined) {
    console.log('\ndiff: microdiff could not be fetched, so only tapes are measured')
    return tapes({ rounds })
  }
  const met = await tapes({ rounds })
  for (const [size, { rows, times }] of Object.entries(SIZES)) {
    met.push(
      await oneLeaf({ size, rows, times, rounds, microdiff }),
      await ignored({ size, rows, times, rounds, microdiff }),
    )
  }
  return [...met, await equalTexts({ rounds })]
}

async function oneLeaf({ size, rows, times, rounds, microdiff }) {
  const { expected, actual } = pair(rows, (answer) => void (answer.rows[rows >> 1].owner.deep.x = -1))
  const { values } = createDiffer()
  const variants = { reelay: () => values(expected, actual), peer: () => microdiff(expected, actual) }
  if (Object.values(variants).some((variant) => variant().length !== 1))
    throw new Error('one difference was expected')
  const speed = await measured(rounds, times, variants)
  console.log(
    `\none changed leaf in ${size}, diffs/s: reelay ${speed.text.reelay}, microdiff ${speed.text.peer}`,
  )
  return goal('times the speed of microdiff', speed.ratio, 3, 'at least')
}

async function ignored({ size, rows, times, rounds, microdiff }) {
  const { expected, actual } = pair(rows, (answer) => answer.rows.forEach((row) => void (row.at += 1)))
  const { values } = createDiffer({ ignore: [parsePath('rows[*].at')] })
  const variants = {
    reelay: () => values(expected, actual),
    peer: () => microdiff(expected, actual).filter((one) => !isIgnored(one)),
  }
  if (Object.values(variants).some((variant) => variant().length !== 0))
    throw new Error('no difference was expected')
  const speed = await measured(rounds, times, variants)
  console.log(
    `\na changed and ignored leaf per row in ${size}, diffs/s: reelay ${speed.text.reelay}, microdiff + filter ${speed.text.peer}`,
  )
  return goal('times the speed of microdiff and a filter', speed.ratio, 3, 'at least')
}

const isIgnored = ({ path }) => path.length === 3 && path[0] === 'rows' && path[2] === 'at'

// A string is compared by V8, which is slower than memcmp; whoever holds bytes compares those first.
async function equalTexts({ rounds }) {
  const bytes = Buffer.from(JSON.stringify(answerOf(6500)))
  const [one, other] = [bytes.toString('latin1'), bytes.toString('latin1')]
  const variants = { reelay: () => diffJson(one, other), peer: () => JSON.parse(one) }
  const speed = await measured(rounds, 50, variants)
  console.log(
    `\nequal texts of 1 MB, per second: reelay ${speed.text.reelay}, JSON.parse of one side ${speed.text.peer}`,
  )
  return goal('times the speed of parsing one side', speed.ratio, 5, 'at least')
}

async function measured(rounds, times, variants) {
  for (const variant of Object.values(variants)) perSecond(variant, times)
  const results = await interleave(rounds * 3, variants, (variant) => perSecond(variant, times))
  const rates = results.reelay.map((rate, round) => rate / results.peer[round])
  const text = Object.fromEntries(
    Object.entries(results).map(([name, values]) => [name, Math.round(median(values)).toLocaleString('en')]),
  )
  return { ratio: median(rates), text }
}

function perSecond(variant, times) {
  const began = performance.now()
  for (let time = 0; time < times; time++) variant()
  return (times / (performance.now() - began)) * 1000
}

function pair(rows, change) {
  const [expected, actual] = [structuredClone(answerOf(rows)), structuredClone(answerOf(rows))]
  change(actual)
  return { expected, actual }
}

function answerOf(rows) {
  return {
    rows: Array.from({ length: rows }, (_, n) => ({
      id: `row-${n}`,
      name: `Name ${n}`,
      active: n % 2 === 0,
      at: n * 1.5,
      tags: ['a', 'b', `t${n}`],
      owner: { id: n, mail: `u${n}@example.com`, deep: { x: n, y: null } },
    })),
  }
}

async function timed(list, work) {
  const began = performance.now()
  await work()
  list.push(performance.now() - began)
}

/** Tapes: identical ones beside `cmp`, and a tape that is ten times as long. */
async function tapes({ rounds }) {
  const [short, long] = [20_000, 200_000]
  const paths = {}
  for (const exchanges of [short, long])
    for (const side of [0, 1]) paths[`${exchanges} ${side}`] = await tapeWith(exchanges, side)
  const copy = join(scratch, 'copy.tape.jsonl')
  copyFileSync(paths[`${long} 0`], copy)
  const times = { same: [], cmp: [], short: [], long: [] }
  for (let round = 0; round < rounds; round++) {
    await timed(times.same, () => diffTapes(paths[`${long} 0`], copy))
    await timed(times.cmp, () => spawnSync('cmp', [paths[`${long} 0`], copy]))
  }
  for (let round = 0; round < Math.min(2, rounds); round++) {
    await timed(times.short, () => diffTapes(paths[`${short} 0`], paths[`${short} 1`]))
    await timed(times.long, () => diffTapes(paths[`${long} 0`], paths[`${long} 1`]))
  }
  const [same, cmp, less, more] = [times.same, times.cmp, times.short, times.long].map(median)
  console.log(
    `\nidentical tapes of ${long} exchanges: reelay ${same.toFixed(0)} ms, cmp ${cmp.toFixed(0)} ms`,
  )
  const isIdentical = goal('times the time of cmp', same / cmp, 1.5, 'at most')
  console.log(
    `\ndifferent tapes: ${short} exchanges ${less.toFixed(0)} ms, ${long} exchanges ${more.toFixed(0)} ms`,
  )
  return [isIdentical, goal('times the time for ten times the tape', more / less, 12, 'at most')]
}

/** A tape of calls with different arguments. On the later one some prices differ. */
async function tapeWith(exchanges, side) {
  const path = join(scratch, `${exchanges}-${side}.tape.jsonl`)
  const out = createWriteStream(path)
  const header = {
    reelay: 1,
    id: '01KA2B3C4D5E6F7G8H9JKMNPQR',
    started: `2026-01-01T00:0${side}:00.000Z`,
    by: 'reelay',
    servers: { s: { transport: 'stdio' } },
  }
  out.write(`${JSON.stringify(header)}\n`)
  for (let at = 0; at < exchanges; at++) {
    const frame = (n, dir, msg) =>
      `${JSON.stringify({ n, t: n + side, server: 's', conn: 1, dir, msg: { jsonrpc: '2.0', id: at, ...msg } })}\n`
    const call = {
      method: 'tools/call',
      params: { name: 'search', arguments: { query: `item ${at}`, limit: 10 } },
    }
    const price = (at % 97) + (side === 1 && at % 50 === 0 ? 1 : 0)
    const result = { content: [], structuredContent: { id: `r${at}`, price, tags: ['a', 'b', 'c'] } }
    if (!out.write(frame(2 * at + 1, 'c2s', call) + frame(2 * at + 2, 's2c', { result })))
      await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return path
}
