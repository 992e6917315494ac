// One client in a process of its own, so that what another left behind is not collected in its time: prints what it did in each run, once it is warm.
import { rawLoop, sdk1OverHttp, sdk1OverStdio, sdk2OverStdio } from './clients.mjs'
import { commandTarget, loadTape, replay, urlTarget } from '../../dist/index.js'

const [COLD, WARM] = [2, 3]
const [client, tape, calls, ...server] = process.argv.slice(2)
const loading = []

const CLIENTS = {
  raw: () => rawLoop(server, Number(calls)),
  sdk1: () => sdk1OverStdio(server, Number(calls)),
  sdk2: () => sdk2OverStdio(server, Number(calls)),
  reelay: () => replayed(commandTarget(server)),
  'sdk1-http': () => sdk1OverHttp(server[0], Number(calls)),
  'reelay-http': () => replayed(urlTarget(server[0])),
}

async function replayed(target) {
  const began = performance.now()
  const loaded = await loadTape(tape)
  const started = performance.now()
  loading.push(((started - began) / calls) * 1000)
  const { summary } = await replay(loaded, { target }).report
  if (summary.verdict !== 'pass') throw new Error(`the replay found ${summary.verdict}`)
  return (calls / (performance.now() - started)) * 1000
}

const rates = []
for (let run = 0; run < COLD + WARM; run++) rates.push(await CLIENTS[client]())
rates.splice(0, COLD)
loading.splice(0, COLD)
console.log(JSON.stringify({ rates, loading }))
