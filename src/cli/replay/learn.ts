import { existsSync } from 'node:fs'
import type { CommandDefinition } from '../command.ts'
import { readSecretValues } from '../options/live-options.ts'
import { readOptions, type GivenOptions } from '../options/option.ts'
import {
  LEARN_ONLY_OPTIONS,
  LEARN_OPTIONS,
  readReplayFlags,
  toReplayOptions,
  type LearnFlags,
} from '../options/replay-options.ts'
import { print } from '../output/print.ts'
import { clearProgress, showProgress } from '../output/progress.ts'
import { abortOnSignals } from '../signals.ts'
import { ReplayController } from '../../replay/control/controller.ts'
import { learnNoise } from '../../replay/noise/learn-noise.ts'
import { profileContent, readNoiseProfile, writeNoiseProfile } from '../../replay/noise/profile-file.ts'
import { liveSecrets } from '../../replay/session/live-secrets.ts'
import { tapeBindings } from '../../replay/values/tape-bindings.ts'
import { learnedAsJson, learnedAsText } from '../../report/noise.ts'
import { heldText } from '../../report/replay.ts'
import { escapeControlChars } from '../../text.ts'
import { loadTape } from '../../store/file/read.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape, type IndexedTape } from '../../store/index/indexed-tape.ts'
import { FoldedStderr, readReplayTarget } from './replay-target.ts'
import { createBeforeRun, REPLAY_ARGUMENTS } from './replay.ts'
import { createRunRedactor } from './run-reports.ts'

export const learnCommand: CommandDefinition = {
  name: 'learn',
  usage: '[options] <tape> -- <server command…>\n       reelay learn [options] <tape> --url <url>',
  arguments: REPLAY_ARGUMENTS,
  options: LEARN_OPTIONS,
  common: [
    'url',
    'header',
    'timeout',
    'server',
    'allow',
    'allowWrites',
    'beforeRun',
    'runs',
    'profile',
    'json',
    'verbose',
  ],
  run: async ([name = '', ...command], given) => {
    const tape = await openIndexedTape(resolveTape(name), { side: 'server' })
    try {
      await learn(tape, command, given)
    } finally {
      tape.close()
    }
  },
}

async function learn(tape: IndexedTape, command: readonly string[], given: GivenOptions): Promise<void> {
  const flags = readReplayFlags('learn', given)
  const { runs, profile: path } = readOptions<LearnFlags>(LEARN_ONLY_OPTIONS, given, {
    command: 'learn',
  })
  const signal = abortOnSignals()
  const baseline =
    flags.baseline === undefined ? undefined : await loadTape(resolveTape(flags.baseline), 'server')
  const correlate = flags.correlate !== false && (await tapeBindings(tape, { ...flags, baseline }))
  const secrets = liveSecrets(tape.header, { values: readSecretValues(flags) })
  const beforeRun = createBeforeRun(flags.beforeRun, signal)
  const stored = readNoiseProfile(tape, { path: path === undefined ? undefined : existing(path) })
  const stderr = new FoldedStderr(flags.verbose === true)
  const learned = await learnNoise(
    tape,
    {
      ...toReplayOptions(flags),
      correlate,
      ...(secrets && { secrets }),
      target: readReplayTarget(command, flags, (chunk) => stderr.add(chunk)),
      signal,
      controller: new ReplayController(),
      onAsk: flags.onAsk === 'ask' || flags.onAsk === undefined ? 'decline' : flags.onAsk,
    },
    {
      ...(runs !== undefined && { runs }),
      ...(beforeRun && { beforeRun }),
      onRun: (run, all) => showProgress(`run ${run} of ${all}`),
      known: stored === undefined || stored.stale !== undefined ? undefined : stored.profile,
    },
  ).catch((error: unknown) => {
    clearProgress()
    throw stderr.explained(error)
  })
  clearProgress()
  stderr.close()
  if (learned === undefined) {
    process.stderr.write('reelay learn: stopped; nothing was written\n')
    process.exitCode = 130
    return
  }
  if (learned.report.summary.sent === 0) {
    process.stderr.write(
      `reelay learn: nothing was sent, so nothing was learned: ${learned.unlearned[0]?.why ?? 'the tape has no requests'}\n`,
    )
    for (const hint of heldText(learned.report)) process.stderr.write(`  hint: ${escapeControlChars(hint)}\n`)
    process.exitCode = 3
    return
  }
  const redact = createRunRedactor(secrets).text
  const file = await writeNoiseProfile(tape, learned.profile, { path, redact })
  if (given['json'] !== undefined)
    print(redact(learnedAsJson(learned, { file, content: profileContent(tape, learned.profile) })))
  else print(redact(learnedAsText(tape, learned, file)))
  process.exitCode = learned.differences.length > 0 ? 1 : learned.unlearned.length > 0 ? 3 : 0
}

function existing(path: string): string | undefined {
  return existsSync(path) ? path : undefined
}
