// Measures how the CPU time of redaction grows with the size of a message, for every shape in redact-shapes.mjs. Linear work
// doubles when the message doubles; quadratic work is multiplied by four.
import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../run.mjs'
import { messageShapes } from './redact-shapes.mjs'

const SIZES = [50_000, 100_000, 200_000, 400_000]
/** A shape fails if the last two doublings together multiply its time by more than this. Linear is 4, quadratic is 16. */
const MAX_GROWTH = 8
/** Times below this are mostly noise: no growth is judged. */
const MIN_JUDGED_MS = 60
/** A longer run is not followed by one with a larger message. */
const MAX_MS = 3000

const KEY = { name: 'k-attack', hmac: (text) => createHmac('sha256', 'attack').update(text).digest() }

export async function run({ only = '' } = {}) {
  const { Redactor } = await import(pathToFileURL(join(root, 'dist', 'redact', 'redactor.js')).href)
  const { defaultRules } = await import(pathToFileURL(join(root, 'dist', 'redact', 'rules', 'index.js')).href)
  const shapes = messageShapes(defaultRules()).filter(({ name }) => name.includes(only))
  console.log(`redaction: CPU ms for a message of n characters\n`)
  console.log(row('shape', [...SIZES.map((size) => `${size / 1000}k`), 'per doubling', '']))
  warmUp(Redactor, shapes)
  let failures = 0
  for (const { name, message } of shapes) {
    const times = measure(Redactor, message)
    const growth = growthPerDoubling(times)
    const hasFailed = times.length < SIZES.length || isSuperlinear(times)
    if (hasFailed) failures++
    console.log(row(name, [...padded(times), growth.toFixed(1), hasFailed ? 'FAILED' : '']))
  }
  console.log(`\n${shapes.length} shapes tried, ${failures} failed`)
  return failures
}

function row(name, cells) {
  return name.padEnd(44) + cells.map((cell) => cell.padStart(9)).join('')
}

function padded(times) {
  return SIZES.map((_, at) => (times[at] === undefined ? '–' : times[at].toFixed(0)))
}

/** Compiles the code before the first measurement. */
function warmUp(Redactor, shapes) {
  for (const { message } of shapes) new Redactor({ key: KEY }).text(message(2000))
}

function measure(Redactor, message) {
  const times = []
  for (const size of SIZES) {
    const text = message(size)
    const redactor = new Redactor({ key: KEY })
    const before = process.cpuUsage()
    try {
      redactor.text(text)
    } catch (error) {
      console.log(`${error.name}: ${error.message.slice(0, 60)}`)
      break
    }
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000)
    if (times.at(-1) > MAX_MS) break
  }
  return times
}

function growthPerDoubling(times) {
  return times.length < 2 ? 1 : (times.at(-1) / times[0]) ** (1 / (times.length - 1))
}

function isSuperlinear(times) {
  return times.at(-1) > MIN_JUDGED_MS && times.at(-1) / times.at(-3) > MAX_GROWTH
}
