import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { errorMessage, ReelayError } from '../../errors.ts'
import type { CommandDefinition } from '../command.ts'
import { DEBUG_RUN_OPTIONS } from '../debug/debug-run.ts'
import { type GivenOptions, option, type OptionRow, readOptions, usageError } from '../options/option.ts'
import { countValue } from '../options/option-types.ts'
import { waitForSignal } from '../signals.ts'
import { type AdapterDefaults, DebugAdapter } from './adapter.ts'
import { DapConnection } from './dap-connection.ts'

interface DapFlags {
  readonly port?: number
}

const OWN_OPTIONS: { readonly port: OptionRow<number> } = {
  port: option(
    '--port',
    countValue(65_535),
    'Listen on this port of 127.0.0.1 instead of stdin and stdout; needs the tape and the server on the command line',
    { group: 'Adapter' },
  ),
}

export const dapCommand: CommandDefinition = {
  name: 'dap',
  usage: '[options] [<tape>] [-- <server command…>]',
  arguments: {
    '[tape]': 'Tape name, or path of a tape file; by default the launch entry of the editor names it',
    '[command...]': 'Command that starts the live server, after --',
  },
  options: { ...OWN_OPTIONS, ...DEBUG_RUN_OPTIONS },
  common: 'port url header timeout server allow allowWrites record'.split(' '),
  run: ([tape, ...command], given) => runAdapter(tape, command, given),
}

async function runAdapter(
  tape: string | undefined,
  command: readonly string[],
  given: GivenOptions,
): Promise<void> {
  const { port } = readOptions<DapFlags>(OWN_OPTIONS, given, { command: 'dap' })
  const { port: _, ...options } = given
  if (port === undefined) return serveStdio({ tape, command, given: options, isFixed: false })
  if (tape === undefined || (command.length === 0 && options['url'] === undefined))
    throw usageError(
      '--port needs the tape and the server on the command line, because other users of this machine can reach a port',
      'as in reelay dap --port 4711 search -- node server.js',
    )
  await servePort(port, { tape, command, given: options, isFixed: true })
}

/** Serves the editor that has started this program. It ends with the editor. */
async function serveStdio(defaults: AdapterDefaults): Promise<void> {
  const session = serveEditor({ input: process.stdin, output: process.stdout }, defaults)
  await Promise.race([session.ended, waitForSignal()])
  await session.close()
  process.stdin.destroy()
}

/** Serves one editor after the other, until a signal comes. */
async function servePort(port: number, defaults: AdapterDefaults): Promise<void> {
  let current: EditorSession | undefined
  const server = createServer((socket) => {
    if (current !== undefined) return void socket.destroy() // one editor at a time
    const session = serveEditor({ input: socket, output: socket }, defaults)
    current = session
    void session.ended
      .then(() => session.close())
      .finally(() => {
        socket.destroy()
        current = undefined
      })
  })
  server.listen({ port, host: '127.0.0.1' })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new ReelayError('LISTEN_FAILED', `cannot listen on 127.0.0.1:${port}: ${errorMessage(cause)}`, {
      hint: 'choose another --port',
      cause,
    })
  }
  process.stderr.write(`reelay dap: listening on 127.0.0.1:${port}\n`)
  await waitForSignal()
  server.close()
  await current?.close()
}

interface EditorSession {
  /** Resolves when the editor has disconnected or is gone. */
  readonly ended: Promise<void>
  /** Ends the run and the server. */
  close(): Promise<void>
}

function serveEditor(
  streams: { input: Readable | Socket; output: Writable | Socket },
  defaults: AdapterDefaults,
): EditorSession {
  let adapter: DebugAdapter | undefined
  const ended = new Promise<void>((resolve) => {
    const connection = new DapConnection({
      ...streams,
      onRequest: (request) => {
        const handled = adapter?.handle(request)
        if (request.command === 'disconnect') void handled?.then(() => resolve())
      },
      onEnd: (why) => {
        if (why !== undefined) process.stderr.write(`reelay dap: the connection is closed: ${why}\n`)
        resolve()
      },
    })
    adapter = new DebugAdapter(connection, defaults)
  })
  return { ended, close: async () => adapter?.close() }
}
