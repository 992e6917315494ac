import { createRecording, type Recording } from '../../record/recording.ts'
import type { Target } from '../../replay/options.ts'
import type { OpenLink } from '../../transport/client-link.ts'

export interface RecordedTarget {
  readonly target: Target
  /** Ends the tape of the run, if one is made. */
  close(): Promise<void>
}

/** The target with a recorder before it, when the user wants a tape of the run. */
export function recorded(
  target: Target,
  path: string | undefined,
  secrets: readonly string[],
): RecordedTarget {
  if (path === undefined) return { target, close: async () => {} }
  const recording = createRecording({ tape: path })
  return {
    target: { ...target, open: recordedLink(target, recording, secrets) },
    close: async () => void (await recording.close()),
  }
}

function recordedLink({ name, open }: Target, recording: Recording, secrets: readonly string[]): OpenLink {
  const named = Object.fromEntries(secrets.map((value, at) => [`SECRET_${at}`, value]))
  const env = { ...process.env, ...named }
  return async (handlers) => {
    const tape = recording.pipes({
      server: 'server',
      info: { transport: 'stdio', command: name.split(' ') },
      env,
    })
    const [sent, heard] = [tape.tap('c2s'), tape.tap('s2c')]
    const link = await open({
      ...handlers,
      onText: (text) => heard.pass(lineOf(text), () => handlers.onText(text)),
    })
    return {
      abort: (key: string) => link.abort?.(key) ?? false,
      send: (text) => sent.pass(lineOf(text), () => link.send(text)),
      close: () => link.close(),
    }
  }
}

function lineOf(text: string): Buffer {
  return Buffer.from(`${text}\n`)
}
