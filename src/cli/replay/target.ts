import type { ReplayFlags } from '../options/replay-options.ts'
import { usageError } from '../options/option.ts'
import { headerRecord } from '../options/option-types.ts'
import type { ReelayError } from '../../errors.ts'
import type { OpenLink } from '../../link/client-link.ts'
import { createRecording, type Recording } from '../../record/recording.ts'
import type { ReplayTarget } from '../../replay/options.ts'
import { commandTarget, sseTarget, urlTarget } from '../../replay/targets.ts'
import type { TapeServer } from '../../tape/header.ts'

/** The live server that the user named: either a command or a URL. */
export function readReplayTarget(
  command: readonly string[],
  { url, sse, header = [] }: ReplayFlags,
): ReplayTarget {
  const [file, ...args] = command
  if (file !== undefined && url === undefined)
    return commandTarget([file, ...args], { onStderr: (chunk) => process.stderr.write(chunk) })
  if (url === undefined || file !== undefined) throw targetUsageError(file !== undefined)
  const headers = headerRecord(header)
  return sse ? sseTarget(url, { headers }) : urlTarget(url, { headers })
}

function targetUsageError(both: boolean): ReelayError {
  return usageError(
    both ? 'both a command and --url are given' : 'there is no server to replay the tape against',
    'give its command after --, as in `reelay replay <tape> -- node server.js`, or its --url',
  )
}

export interface RecordedTarget {
  readonly target: ReplayTarget
  /** Ends the tape of the run, if there is one, and prints its path. */
  close(): Promise<void>
}

interface RecordTargetOptions {
  readonly path: string | undefined
  readonly command: readonly string[]
  readonly secrets: readonly string[]
}

/** Records the target, if the user wants a tape of the run. */
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
