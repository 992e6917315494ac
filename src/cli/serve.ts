import { existsSync } from 'node:fs'
import { Command, Option } from 'commander'
import { isCi } from '../serve/ci.ts'
import { resolveTape } from '../store/home.ts'
import { listenOf } from './listen-address.ts'
import { MODES, planLive } from './live-plan.ts'
import { withMatchFlags } from './match-flags.ts'
import { addPlayFlags } from './play-flags.ts'
import { say, warn } from './serve-talk.ts'
import { serveTapes, type ServeFlags } from './serve-tapes.ts'
import { refuseMisuse, wordsOf } from './serve-words.ts'
import { wantedTapes } from './wanted-tapes.ts'

export const serveCommand: Command = addPlayFlags(withMatchFlags(new Command('serve')))
  .description('be the recorded server, on stdin and stdout or over HTTP')
  .argument(
    '[tape...]',
    'a tape name, or a path to a tape file; over HTTP several, one port each; without one, the tapes of the project',
  )
  .option('--stdio', 'on stdin and stdout, which is the default')
  .option('--http [host:port]', 'over Streamable HTTP (a free port of 127.0.0.1)', listenOf('--http'))
  .option(
    '--sse [host:port]',
    'over HTTP+SSE, the transport of 2024-11-05; may be given with --http',
    listenOf('--sse'),
  )
  .option('--server <name>', 'which server to be, when the tape holds several; over HTTP each has its path')
  .addOption(
    new Option(
      '--on-miss <what>',
      'what is not on the tape is an error, or goes to the live server whose command stands behind --',
    ).choices(['error', 'passthrough']),
  )
  .addOption(
    new Option(
      '--leftovers <policy>',
      'what it means when something recorded is not asked for: exit code 1, or a note',
    ).choices(['fail', 'note']),
  )
  .addOption(
    new Option('--mode <mode>', 'when the live server behind -- is recorded; in CI, none by default').choices(
      MODES,
    ),
  )
  .action(async (words: readonly string[], { mode, onMiss, ...flags }: ServeFlags) => {
    const { names, command } = wordsOf(words, process.argv)
    if (words.length === 0) {
      const { manifestTapes } = await import('./serve-manifest.ts')
      const all = { ...flags, ...(mode && { mode }), ...(onMiss && { onMiss }) }
      return serveTapes(manifestTapes(all, process.cwd()), flags, { kind: 'replay' })
    }
    refuseMisuse({ ...flags, names, command, isLive: mode !== undefined || onMiss !== undefined })
    const [name = ''] = names
    const path = resolveTape(name)
    const wishes = { command, ...(mode && { mode }), ...(onMiss && { onMiss }) }
    const plan = planLive({ ...wishes, isTapeThere: existsSync(path), isCi: isCi() })
    if (plan.warning !== undefined) warn(plan.warning)
    if (plan.kind === 'record') {
      const { recordAnew } = await import('./serve-live.ts')
      process.exitCode = await recordAnew(path, plan, (text) => say(`reelay serve: ${text}`))
      return
    }
    await serveTapes(wantedTapes(names, flags), flags, plan)
  })
