// Records the scenes and verifies them against the changed server, only by the built program and what a user sees of it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ended, start } from '../processes.mjs'
import { main, recording, startRecorder } from '../recorder.mjs'
import { playOverHttp, playOverStdio } from './client.mjs'
import { startHttpServer } from './http-server.mjs'
import { learnInProcess, memoryTarget, startStdioServer, targetOf, verifyInProcess } from './in-process.mjs'
import { sceneOf } from './scenes/index.mjs'
import { VOLATILE_KINDS } from './scenes/volatile.mjs'

const SERVER = [process.execPath, fileURLToPath(new URL('stdio-server.mjs', import.meta.url))]

/** Opens a place for tapes and servers; `close` removes it. With `isQuick`, verifying starts no Node process. */
export async function openBench({ isQuick = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-verdicts-'))
  const http = await startHttpServer()
  const stdio = isQuick ? await startStdioServer() : undefined
  const commandOf = (settings) => stdio?.commandOf(settings) ?? SERVER
  const tapes = new Map()
  const profiles = new Map()
  let made = 0

  const folderFor = (name) => {
    made += 1
    const own = join(folder, `${name}-${made}`)
    mkdirSync(own)
    return own
  }
  const envOf = (settings) => ({
    ...process.env,
    REELAY_HOME: join(folder, 'home'),
    VERDICTS_SETTINGS: JSON.stringify(settings),
  })

  async function record({ scene, era, transport, noise, shift = 0, kinds, take }) {
    const own = folderFor('tape')
    const tape = join(own, `${scene}.tape.jsonl`)
    if (transport === 'memory' && kinds?.length === 1) {
      // Recording every kind alone would take longer than verifying it.
      const whole = await tapeOf({ scene, era, transport, noise, shift, kinds: VOLATILE_KINDS, take })
      writeFileSync(tape, partOf(readFileSync(whole.tape, 'utf8'), kinds[0]))
      return { tape, folder: own }
    }
    const { play } = sceneOf(scene)
    const settings = { scene, noise, shift, folder: own }
    const session = { era, play: (client) => play(client, kinds) }
    if (transport !== 'http')
      await playOverStdio({
        command: [...recording(tape), ...commandOf(settings)],
        env: envOf(settings),
        ...session,
      })
    else {
      const recorder = await startRecorder({ url: http.urlOf(settings), tape, env: envOf(settings) })
      await playOverHttp({ url: recorder.url, ...session })
      await recorder.stop()
    }
    if (shift !== 0) makeOlder(tape, shift)
    return { tape, folder: own }
  }

  /** The tape of a scene is recorded once and used for all of its changes. */
  function tapeOf(wanted) {
    const { scene, era, transport, noise, shift, kinds, take } = wanted
    const key = JSON.stringify([scene, era, transport, noise, shift, kinds, take])
    if (!tapes.has(key)) tapes.set(key, record(wanted))
    return tapes.get(key)
  }

  /** Runs `reelay verify` and returns its exit code and its report. With `hasProfile`, `reelay learn` runs before, once for each tape. */
  async function verify({ tape, settings, transport, options = [], hasProfile = false }) {
    const isStateless = transport === 'http'
    const all = { ...settings, isStateless, folder: settings.folder ?? folderFor('run'), run: (made += 1) }
    if (transport === 'memory' || isQuick) {
      const targetFor = (its) =>
        transport === 'memory'
          ? memoryTarget(its)
          : targetOf(transport, { url: http.urlOf(its), command: commandOf(its) })
      if (hasProfile)
        await learnedFor(tape, (unchanged) => learnInProcess({ tape, target: targetFor(unchanged) }), all)
      return verifyInProcess({ tape, target: targetFor(all), hasProfile })
    }
    const target = transport === 'stdio' ? ['--', ...SERVER] : ['--url', http.urlOf(all)]
    if (hasProfile) await learnedFor(tape, (unchanged) => learn(tape, target, envOf(unchanged)), all)
    const profile = hasProfile ? [] : ['--no-noise-profile']
    const args = ['verify', tape, '--json', '--no-config', ...profile, ...options, ...target]
    const { code, stdout, stderr } = await outputOf(args, envOf(all))
    return { code, report: parsed(stdout), stderr }
  }

  /** Learns from the unchanged server, once for each tape. */
  function learnedFor(tape, learnFrom, settings) {
    if (!profiles.has(tape))
      profiles.set(tape, learnFrom({ ...settings, change: undefined, sometimes: undefined }))
    return profiles.get(tape)
  }

  return {
    tapeOf,
    verify,
    close: () => {
      http.stop()
      stdio?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => (isInterrupted = true))

/** Runs the jobs, `parallel` of them at a time. After an interruption the results of the finished ones are returned. */
export async function runAll(jobs, work, { onDone = () => {}, parallel = availableParallelism() } = {}) {
  const results = Array.from({ length: jobs.length })
  const left = jobs.entries()
  const worker = async () => {
    for (const [n, job] of left) {
      if (isInterrupted) return
      const result = await work(job).catch((failure) => void process.stderr.write(`${failure.stack}\n`))
      // An interruption from the terminal also ends the programs that are being measured.
      if (isInterrupted) return
      results[n] = result
      onDone(n)
    }
  }
  await Promise.all(Array.from({ length: parallel }, worker))
  return results
}

/** Runs the built program. */
async function outputOf(args, env) {
  const child = start([process.execPath, main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (chunk) => (output[name] += chunk))
  return { code: await ended(child), ...output }
}

async function learn(tape, target, env) {
  const { code, stdout, stderr } = await outputOf(['learn', tape, '--no-config', ...target], env)
  if (code === 1 || code === 3) process.stderr.write(`reelay learn: ${stdout.slice(-800)}\n`)
  else if (code !== 0) throw new Error(`reelay learn failed: ${stderr}`)
}

function isCall({ dir, msg }) {
  return dir === 'c2s' && msg?.method === 'tools/call'
}

/** The lines of a tape without those of other calls, which are made one after the other. */
function partOf(text, id) {
  const [header, ...lines] = text.trim().split('\n')
  const frames = lines.map((line) => JSON.parse(line))
  const first = frames.findIndex(isCall)
  const from = frames.findIndex((frame) => isCall(frame) && frame.msg.id === id)
  const to = frames.findIndex(({ dir, msg }) => dir === 's2c' && msg?.id === id)
  const rest = frames.filter(({ event }, at) => event !== undefined && at > first)
  const kept = [...frames.slice(0, first), ...frames.slice(from, to + 1), ...rest]
  const numbered = kept.map((frame, at) => ({
    ...frame,
    n: at + 1,
    ...(frame.event === 'end' && { frames: kept.length }),
  }))
  return `${[header, ...numbered.map((frame) => JSON.stringify(frame))].join('\n')}\n`
}

/**
 * Makes a tape as old as the clock of its server was behind. The values in it are already those of that time, because the
 * server ran with a moved clock; only the time at which the tape says that it was recorded is left.
 */
function makeOlder(tape, shift) {
  const [first, ...rest] = readFileSync(tape, 'utf8').split('\n')
  const header = JSON.parse(first)
  header.started = new Date(Date.parse(header.started) + shift).toISOString()
  writeFileSync(tape, [JSON.stringify(header), ...rest].join('\n'))
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
