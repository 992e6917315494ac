// node bench/load/soak.mjs [<minutes>]: 50 sessions a second of 10 calls. Prints the memory of the generator each minute. What is left
// after a garbage collection, the least memory of a half, may grow by at most a tenth; the first minute is left out.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { compile, median, reelay } from '../measure.mjs'
import { writeTape } from '../load.mjs'

const minutes = Number(process.argv[2] ?? 10)
const server = spawn(compile('trivial-http', 'load'), [], { stdio: ['ignore', 'pipe', 'inherit'] })
const url = `http://127.0.0.1:${String(await once(server.stdout, 'data')).trim()}/mcp`
const words = [reelay, 'load', writeTape('load-soak', 10), '--rate', '50', '--for', `${minutes}m`]
const load = spawn(process.execPath, [...words, '--threads', '1', '--json', '--url', url], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let report = ''
load.stdout.setEncoding('utf8').on('data', (text) => (report += text))
const samples = []
const sampling = setInterval(() => {
  const rss = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${load.pid}/status`, 'utf8'))?.[1]
  samples.push(Number(rss) / 1024)
  if (samples.length % 12 === 0) {
    const minute = samples.slice(-12)
    const [least, most] = [Math.min(...minute), Math.max(...minute)]
    console.log(
      `minute ${samples.length / 12}: ${least.toFixed(1)} to ${most.toFixed(1)} MB, median ${median(minute).toFixed(1)} MB`,
    )
  }
}, 5000)
await once(load, 'exit')
clearInterval(sampling)
server.kill()
const steady = samples.slice(12)
const [first, second] = [steady.slice(0, steady.length / 2), steady.slice(steady.length / 2)].map((half) =>
  Math.min(...half),
)
const { all, sessions, generator } = JSON.parse(report)
console.log(
  `${all.calls} calls of ${sessions.done} sessions, ${all.failed} failed ${JSON.stringify(all.outcomes)}; busy ${generator.busy.toFixed(3)}`,
)
console.log(
  `least of the first half ${first.toFixed(1)} MB, of the second ${second.toFixed(1)} MB: ${(second / first).toFixed(3)} (goal: at most 1.1)`,
)
process.exitCode = second <= 1.1 * first ? 0 : 1
