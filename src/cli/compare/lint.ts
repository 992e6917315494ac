import { classifyMigration } from '../../compare/migration.ts'
import { newestSessionRevision, newestStatelessRevision } from '../../protocol/revisions/index.ts'
import { selectServerPart } from '../../replay/plan/server-part.ts'
import { loadTape } from '../../store/file/read.ts'
import { resolveTape } from '../../store/home.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { eraValue, serverOption } from '../options/live-options.ts'
import { option } from '../options/option.ts'
import { jsonOption, TAPE_ARGUMENT } from '../options/shared-options.ts'
import { showTapeReading } from '../output/progress.ts'
import { ReportOutput, reportOptions, type ReportFlags } from '../output/reports.ts'
import { revisionNamed } from '../replay/other-era.ts'

interface LintFlags extends ReportFlags {
  readonly for?: string
  readonly server?: string
  readonly json?: true
}

export const lintCommand: CommandDefinition = defineCommand<LintFlags>({
  name: 'lint',
  usage: '[options] <tape>',
  arguments: TAPE_ARGUMENT,
  options: {
    for: option(
      '--for <version>',
      eraValue,
      'The protocol version to migrate to: 2026-07-28 (without sessions) or 2025-11-25 (with sessions)',
      { default: newestStatelessRevision().version },
    ),
    server: serverOption,
    ...reportOptions('migration'),
    json: jsonOption,
  },
  run: async ([name = ''], { for: version = newestStatelessRevision().version, server, ...flags }) => {
    const output = new ReportOutput('migration', flags)
    showTapeReading()
    const tape = await loadTape(resolveTape(name))
    const { turns, revision } = await selectServerPart(tape, server)
    const from = revision.revision ?? newestSessionRevision()
    const migration = classifyMigration(turns, {
      from: { ...from, version: revision.version ?? from.version },
      to: revisionNamed(version),
      rest: tape.rest,
    })
    await output.write({ ...migration, tape: tape.path }, { command: 'lint' })
    process.exitCode = migration.turns.some(({ becomes }) => becomes === 'no equivalent') ? 1 : 0
  },
})
