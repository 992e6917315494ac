import { createInterface } from 'node:readline'
import { ControlClient } from '../../control/control-client.ts'
import { isObject, parseJson } from '../../json/parse.ts'
import { resolveTape } from '../../store/home.ts'
import { escapeControlCharsInJson } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { errorMessage, ReelayError } from '../../errors.ts'
import { TAPE_ARGUMENT, jsonOption } from '../options/shared-options.ts'
import { abortOnSignals } from '../signals.ts'

export const interceptCommand: CommandDefinition = defineCommand<{ json?: true }>({
  name: 'intercept',
  arguments: TAPE_ARGUMENT,
  options: {
    json: {
      ...jsonOption,
      help: 'Print events as JSON lines and read commands from stdin, instead of the terminal UI',
    },
  },
  run: async ([name = ''], { json }) => {
    const tape = resolveTape(name)
    const signal = abortOnSignals()
    if (json) return relayLines(tape, signal)
    const { runMonitor } = await import('./monitor.ts')
    process.exit(await runMonitor({ tape, needsControl: true, filter: undefined, signal }))
  },
})

/** Connects stdin and stdout to the control socket, until one of them ends. */
async function relayLines(tape: string, signal: AbortSignal): Promise<void> {
  const control = await ControlClient.open({ tape, name: 'script', onEvent: print })
  const lines = createInterface({ input: process.stdin })
  lines.on('line', (line) => void run(control, line).then(print))
  lines.on('close', () => control.close())
  signal.addEventListener('abort', () => control.close())
  await control.closed
  lines.close()
  process.stdin.destroy()
  process.exitCode = signal.aborted ? 130 : 0
}

function print(value: object): void {
  process.stdout.write(`${escapeControlCharsInJson(JSON.stringify(value))}\n`)
}

async function run(control: ControlClient, line: string): Promise<object> {
  const request = parseJson(line)
  const { id = null, command = '', ...args } = isObject(request) ? request : {}
  try {
    return { ...(await control.request(String(command), args)), reply: id }
  } catch (error) {
    const { code = 'UNEXPECTED', hint } = error instanceof ReelayError ? error : {}
    return { reply: id, ok: false, error: { code, message: errorMessage(error), hint } }
  }
}
