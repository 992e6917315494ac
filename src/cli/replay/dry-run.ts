import type { ReplayOptions } from '../../replay/options.ts'
import { previewMessages, type ScheduledMessage } from '../../replay/preview.ts'
import type { ReplayedTape } from '../../replay/plan/server-part.ts'
import { toSerializable } from '../../report/json-text.ts'
import { escapeControlChars } from '../../text.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'

/** Prints which messages would be sent, and why the others would not, judging tools by the tape. */
export async function printDryRun(
  tape: ReplayedTape,
  options: Omit<ReplayOptions, 'target'>,
  { json }: { readonly json?: true },
): Promise<void> {
  const messages = await previewMessages(tape, options)
  const shown = tape.header.redaction === undefined ? createOutputRedactor() : String
  if (json === true) return printDryRunJson(messages, shown)
  for (const message of messages) print(`${escapeControlChars(shown(plannedMessageLine(message)))}\n`)
}

/** Prints one message at a time, because those of a large tape do not fit into one string. */
function printDryRunJson(messages: Iterable<ScheduledMessage>, shown: (text: string) => string): void {
  let before = '{\n  "messages": ['
  for (const message of messages) {
    print(
      `${before}\n${shown(JSON.stringify(plannedMessageJson(message), null, 2)).replaceAll(/^/gm, '    ')}`,
    )
    before = ','
  }
  print(before === ',' ? '\n  ]\n}\n' : `${before}]\n}\n`)
}

function plannedMessageJson(message: ScheduledMessage): object {
  const { params } = message.message
  return { ...message, message: { ...message.message, params: toSerializable(params) } }
}

function plannedMessageLine({ frame, message, tool, fate, dependencies }: ScheduledMessage): string {
  const name = tool === undefined ? message.method : `${message.method} ${tool}`
  const head = `${fate.kind.padEnd(5)} ${`#${frame}`.padStart(6)}  ${name}`
  if (fate.kind !== 'send') return `${head}   (${fate.why})`
  const { length } = dependencies
  return length === 0 ? head : `${head}   (after ${length} ${length === 1 ? 'answer' : 'answers'})`
}
