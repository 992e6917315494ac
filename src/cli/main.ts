#!/usr/bin/env node
// The server is spawned before the rest of the recorder is loaded, so that both start at the same time.
import { requireNewTape } from '../store/file/write.ts'
import { resolveTape } from '../store/home.ts'
import { parseRecordArgs, type RecordArgs } from './options/record-options.ts'
import { announceConfig } from './options/config-options.ts'
import { warnAboutVault } from './record/record-output.ts'
import { startServerAndRecord } from './record/record-stdio.ts'

async function main(argv: readonly string[]): Promise<void> {
  const [verb, ...rest] = await translateOtherOptions(withoutNoColor(argv))
  const args = verb === 'record' ? parseRecordArgs(rest) : undefined
  if (args !== undefined) return startRecording(args)
  if (verb === 'serve' && isSingleName(rest))
    return (await import('./serve/serve-tapes.ts')).serveSingleTape(rest[0])
  const { runProgram } = await import('./run-program.ts')
  await runProgram([...process.argv.slice(0, 2), ...(verb === undefined ? [] : [verb]), ...rest])
}

/** Translates the option names of qai. */
async function translateOtherOptions(argv: readonly string[]): Promise<readonly string[]> {
  if (!hasQaiOptions(argv)) return argv
  const translated = (await import('./options/qai-options.ts')).translateQaiOptions(argv)
  process.argv.splice(2, Infinity, ...translated) // commands look there for the words after --
  return translated
}

/** Words of a server command do not count. After `record`, it may begin without `--`. */
function hasQaiOptions([verb = '', ...words]: readonly string[]): boolean {
  const dashes = words.indexOf('--')
  const own = dashes < 0 ? words : words.slice(0, dashes)
  const isOurs = verb === 'record' ? QAI_OPTION.test(own[0] ?? '') : QAI_COMMANDS.has(verb)
  return isOurs && own.some((word) => QAI_OPTION.test(word) && !word.startsWith('--transport'))
}

const QAI_OPTION = /^--(session-file|target-command|target-url|no-handshake|transport)(=|$)/
const QAI_COMMANDS: ReadonlySet<string> = new Set(['replay', 'verify', 'inspect', 'export', 'serve'])

/** Every command takes `--no-color`. It is not taken from the words of a server command. */
function withoutNoColor(argv: readonly string[]): readonly string[] {
  const [at, dashes] = [argv.indexOf('--no-color'), argv.indexOf('--')]
  const isOurs = dashes >= 0 ? at < dashes : at < 2 || argv[0] !== 'record'
  if (at < 0 || !isOurs) return argv
  const rest = argv.filter((_, place) => place !== at)
  // The programs that these two start keep their environment.
  if (rest[0] !== 'record' && rest[0] !== 'run') {
    process.env['NO_COLOR'] = '1'
    delete process.env['FORCE_COLOR'] // Node would let it win
  }
  return rest
}

function isSingleName(words: readonly string[]): words is readonly [string] {
  return words.length === 1 && !words[0]?.startsWith('-')
}

async function startRecording(args: RecordArgs): Promise<void> {
  // Rejects an invalid name, and a tape that exists, before anything is started.
  const named = args.output ?? (args.name === undefined ? undefined : resolveTape(args.name))
  if (named !== undefined && args.ifExists !== 'number') requireNewTape(named, args.ifExists === 'overwrite')
  if (args.intercept !== undefined) (await import('../filter/filter.ts')).parseFilter(args.intercept.filter)
  if (!args.quiet && args.redact !== false) announceRecordingConfig()
  warnAboutVault(args)
  if (args.kind === 'command') return startServerAndRecord(args)
  if (args.kind === 'bridge') return (await import('./record/record-bridge.ts')).runBridgeRecording(args)
  const { runForwardRecording, runUrlRecording } = await import('./record/record-proxy.ts')
  return args.kind === 'forward' ? runForwardRecording(args) : runUrlRecording(args)
}

/** A config that must not be used is reported by the recording, which then goes on without a tape. */
function announceRecordingConfig(): void {
  try {
    announceConfig({}, 'run')
  } catch {
    return
  }
}

main(process.argv.slice(2)).catch(async (error: unknown) => {
  const { reportError } = await import('./output/print.ts')
  reportError(error)
})
