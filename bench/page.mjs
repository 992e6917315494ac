// The HTML report of 100,000 exchanges in Chromium: first paint, and the work of the main thread for each frame while it scrolls and zooms.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { writeLongTape } from './big-tape.mjs'
import { goal, here, median, reelay, scratch } from './measure.mjs'

const EXCHANGES = 100_000
const FRAMES = 240

export async function page({ rounds }) {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path))
  if (executablePath === undefined)
    throw new Error('the bench needs chromium (Debian: apt-get install chromium)')
  const [tape, file] = [join(scratch, 'page.tape.jsonl'), join(scratch, 'page.html')]
  writeLongTape(tape, EXCHANGES)
  execFileSync(process.execPath, [reelay, 'inspect', tape, '--report', `html=${file}`], { stdio: 'ignore' })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const figures = { paint: [], scroll: [], zoom: [], pan: [] }
  try {
    for (let round = 0; round < rounds; round++) {
      const one = await oneVisit(browser, file)
      for (const [name, value] of Object.entries(one)) figures[name].push(value)
    }
  } finally {
    await browser.close()
  }
  const bytes = gzipSync(readFileSync(join(here, '..', 'dist', 'ui', 'report.html'))).length
  console.log(`\nthe HTML report of ${EXCHANGES.toLocaleString('en')} exchanges, in Chromium without a GPU`)
  return [
    goal('milliseconds to the first paint with rows', median(figures.paint), 1000, 'at most'),
    goal('p95 of a frame while the list scrolls (ms)', median(figures.scroll), 16, 'at most'),
    goal('p95 of a frame while the timeline zooms (ms)', median(figures.zoom), 16, 'at most'),
    goal('p95 of a frame while the timeline pans (ms)', median(figures.pan), 16, 'at most'),
    goal('kilobytes of the page without data, with gzip', bytes / 1024, 150, 'at most'),
  ]
}

async function oneVisit(browser, file) {
  const context = await browser.newContext({ offline: true, viewport: { width: 1400, height: 900 } })
  try {
    const tab = await context.newPage()
    await tab.goto(pathToFileURL(file).href, { waitUntil: 'commit' })
    await tab.waitForSelector('[role=option]')
    // The time at which the frame with the first rows has been drawn.
    const paint = await tab.evaluate(
      () =>
        new Promise((resolve) => {
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
        }),
    )
    const frames = (action) => tab.evaluate(measureFrames, { action, count: FRAMES })
    return {
      paint,
      scroll: percentile(await frames('scroll')),
      zoom: percentile(await frames('zoom')),
      pan: percentile(await frames('pan')),
    }
  } finally {
    await context.close()
  }
}

function percentile(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)]
}

/** Runs in the page. A frame lasts from its beginning, as the browser gives it, to the first task after it was drawn. */
async function measureFrames({ action, count }) {
  const list = document.querySelector('[role=listbox]')
  const canvas = document.querySelector('canvas')
  const act = {
    scroll: (frame) => {
      list.scrollTop += frame % 40 === 39 ? 200_000 : 137
    },
    zoom: (frame) => {
      const box = canvas.getBoundingClientRect()
      const deltaY = frame % 60 < 30 ? -100 : 100
      canvas.dispatchEvent(
        new WheelEvent('wheel', {
          deltaY,
          clientX: box.left + box.width / 3,
          bubbles: true,
          cancelable: true,
        }),
      )
    },
    pan: (frame) => {
      canvas.dispatchEvent(
        new WheelEvent('wheel', { deltaX: frame % 80 < 40 ? 60 : -60, bubbles: true, cancelable: true }),
      )
    },
  }[action]
  const times = []
  const channel = new MessageChannel()
  channel.port1.start()
  for (let frame = 0; frame < count; frame++) {
    times.push(
      await new Promise((resolve) => {
        requestAnimationFrame((began) => {
          channel.port1.addEventListener('message', () => resolve(performance.now() - began), { once: true })
          act(frame)
          channel.port2.postMessage(0)
        })
      }),
    )
  }
  return times.slice(10)
}
