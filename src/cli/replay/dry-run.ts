import type { ReplayOptions } from '../../replay/options.ts'
import { preview, type ScheduledMessage } from '../../replay/preview.ts'
import type { Tape } from '../../store/read.ts'
import { spared } from '../../report/spared.ts'
import { visible } from '../../wire/visible.ts'
import { print } from '../print.ts'
import { withoutSecrets } from '../without-secrets.ts'

/** Prints what would be sent, and what not and why, by what the tape says of the tools. */
export async function showPlan(
  tape: Tape,
  options: Omit<ReplayOptions, 'target'>,
  { json }: { readonly json?: true },
): Promise<void> {
  const messages = await preview(tape, options)
  const shown = tape.header.redaction === undefined ? withoutSecrets() : String
  if (json === true) return print(shown(`${JSON.stringify({ messages: messages.map(written) }, null, 2)}\n`))
  for (const message of messages) print(`${visible(shown(lineOf(message)))}\n`)
}

function written(message: ScheduledMessage): object {
  const { params } = message.message
  return { ...message, message: { ...message.message, params: spared(params) } }
}

function lineOf({ frame, message, tool, fate, dependencies }: ScheduledMessage): string {
  const name = tool === undefined ? message.method : `${message.method} ${tool}`
  const head = `${fate.kind.padEnd(5)} ${`#${frame}`.padStart(6)}  ${name}`
  if (fate.kind !== 'send') return `${head}   (${fate.why})`
  const { length } = dependencies
  return length === 0 ? head : `${head}   (after ${length} ${length === 1 ? 'answer' : 'answers'})`
}
