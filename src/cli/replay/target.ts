import type { ReplayFlags } from '../options/replay-options.ts'
import { ReelayError } from '../../errors.ts'
import type { OpenLink } from '../../link/client-link.ts'
import { createRecording, type Recording } from '../../record/recording.ts'
import type { ReplayTarget } from '../../replay/options.ts'
import { commandTarget, sseTarget, urlTarget } from '../../replay/targets.ts'
import { withEnvironment } from '../../replay/transform/rule.ts'
import type { TapeServer } from '../../tape/header.ts'

/** The live server that the user named: exactly one of a command and a URL. */
export function readReplayTarget(
  command: readonly string[],
  { url, sse, header = [] }: ReplayFlags,
): ReplayTarget {
  const [file, ...args] = command
  if ((file === undefined) === (url === undefined)) throw targetUsageError(file !== undefined)
  if (file !== undefined)
    return commandTarget([file, ...args], { onStderr: (chunk) => process.stderr.write(chunk) })
  const headers = Object.fromEntries(header.map(readTargetHeader))
  const address = readTargetUrl(url ?? '')
  return sse ? sseTarget(address, { headers }) : urlTarget(address, { headers })
}

function readTargetHeader(text: string): readonly [string, string] {
  const found = /^(?<name>[\w!#$%&'*+.^`|~-]+):\s*(?<value>.*)$/.exec(text)?.groups
  if (found === undefined)
    throw new ReelayError('USAGE', 'a --header cannot be read', {
      hint: "write it as 'Name: value'; with ${env.NAME} the value is read from the environment",
    })
  return [(found['name'] ?? '').toLowerCase(), withEnvironment(found['value'] ?? '', process.env)]
}

function readTargetUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new ReelayError('URL_INVALID', `${text} is no http or https URL`, {
    hint: 'write it like https://host/mcp',
  })
}

function targetUsageError(both: boolean): ReelayError {
  const problem = both
    ? 'both a command and a --url were given'
    : 'there is no server to replay the tape against'
  const hint = 'give its command after --, as in `reelay replay <tape> -- node server.js`, or its --url'
  return new ReelayError('USAGE', problem, { hint })
}

export interface RecordedTarget {
  readonly target: ReplayTarget
  /** Ends the tape of the run, if one is made, and says where it is. */
  close(): Promise<void>
}

interface RecordTargetOptions {
  readonly path: string | undefined
  readonly command: readonly string[]
  readonly secrets: readonly string[]
}

/** The target with a recorder before it, when the user wants a tape of the run. */
export function recordTarget(
  target: ReplayTarget,
  { path, command, secrets }: RecordTargetOptions,
): RecordedTarget {
  if (path === undefined) return { target, close: async () => {} }
  const recording = createRecording({ tape: path })
  const info = command.length > 0 ? { transport: 'stdio', command } : { transport: 'http', url: target.name }
  return {
    target: { ...target, open: recordLink(target.open, recording, { info, secrets }) },
    close: async () => {
      for (const line of recordingResultLines(await recording.close()))
        process.stderr.write(`reelay: ${line}\n`)
    },
  }
}

function recordingResultLines({ path, loss }: Awaited<ReturnType<Recording['close']>>): readonly string[] {
  if (path === undefined) return [`there is no tape of this run: ${loss?.why}`]
  const whole = `the tape of this run is ${path}`
  return loss === undefined ? [whole] : [whole, `it is not whole: ${loss.why}`]
}

function recordLink(
  open: OpenLink,
  recording: Recording,
  { info, secrets }: Pick<RecordTargetOptions, 'secrets'> & { readonly info: TapeServer },
): OpenLink {
  const named = Object.fromEntries(secrets.map((value, at) => [`SECRET_${at}`, value]))
  const env = { ...process.env, ...named }
  return async (handlers) => {
    const tape = recording.pipes({ server: 'server', info, env })
    const [sent, heard] = [tape.recordDirection('c2s'), tape.recordDirection('s2c')]
    const link = await open({
      ...handlers,
      onText: (text) => heard.pass(asLineBytes(text), () => handlers.onText(text)),
    })
    return {
      abort: (key: string) => link.abort?.(key) ?? false,
      send: (text) => sent.pass(asLineBytes(text), () => link.send(text)),
      close: (how) => link.close(how),
    }
  }
}

function asLineBytes(text: string): Buffer {
  return Buffer.from(`${text}\n`)
}
