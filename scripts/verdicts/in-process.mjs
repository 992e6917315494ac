// Verifies in this process: the library functions that `reelay verify` and `reelay learn` call, with the same tapes and the same server. The
// server is called directly (`memory`), is reached over HTTP, or is a started shell that connects its stdin and stdout to the server here. No
// Node process is started, which takes a tenth of the time.
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { main } from '../recorder.mjs'
import { createConnection } from './server.mjs'

const {
  commandTarget,
  learnNoise,
  loadTape,
  readNoiseProfile,
  replayRepeatedly,
  transportTarget,
  urlTarget,
  writeNoiseProfile,
} = await import(pathToFileURL(join(main, '..', '..', 'index.js')))

/** Returns the exit code and the report that `reelay verify` would have. */
export async function verifyInProcess({ tape, target, hasProfile }) {
  const loaded = await loadTape(tape)
  const noise = hasProfile ? readNoiseProfile(loaded)?.profile : undefined
  const report = await replayRepeatedly(
    loaded,
    { target },
    { repeat: 3, confirm: {}, ...(noise && { noise }) },
  )
  const code = { pass: 0, incomplete: 3 }[report.summary.verdict] ?? 1
  return { code, report: { ...report, steps: [...report.steps] }, stderr: '' }
}

/** Writes the noise profile of the unchanged server beside the tape, as `reelay learn` does. */
export async function learnInProcess({ tape, target }) {
  const loaded = await loadTape(tape)
  const learned = await learnNoise(loaded, { target })
  await writeNoiseProfile(loaded, learned.profile)
}

/** Each connection is a new server, as a started program is. */
export function memoryTarget(settings) {
  return transportTarget(() => transportTo(createConnection({ ...settings, isInProcess: true })))
}

export function targetOf(transport, { url, command }) {
  return transport === 'http' ? urlTarget(url) : commandTarget(command)
}

function transportTo(connection) {
  const transport = {
    start: async () => {},
    close: async () => transport.onclose?.(),
    send: async (message) => {
      void connection.receive(message, async (answer) => transport.onmessage?.(structuredClone(answer)))
    },
  }
  return transport
}

/** Listens for the shells that stand for a server over stdio. */
export async function startStdioServer() {
  const sockets = new Set()
  const listener = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    const send = async (message) => void (socket.writable && socket.write(`${JSON.stringify(message)}\n`))
    let connection
    createInterface({ input: socket }).on('line', (line) => {
      const message = parsed(line)
      if (message === undefined) return
      if (connection === undefined) connection = createConnection({ ...message, isInProcess: true })
      else
        connection.receive(message, send).catch((failure) => {
          process.stderr.write(`${failure.stack}\n`)
          socket.destroy()
        })
    })
  })
  await new Promise((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address()
  return {
    /** The settings are the first line that the server gets. */
    commandOf: (settings) => ['bash', '-c', shellTo(port), JSON.stringify(settings)],
    stop: () => {
      for (const socket of sockets) socket.destroy()
      listener.close()
    },
  }
}

/** The shell ends with its stdin, and the connection with the shell. */
function shellTo(port) {
  return `exec 3<>/dev/tcp/127.0.0.1/${port}; printf '%s\\n' "$0" >&3; cat <&3 2>/dev/null & cat >&3 2>/dev/null; kill $!`
}

/** A connection that is cut may end in the middle of a line. */
function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
