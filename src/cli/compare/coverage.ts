import { allPoints, coveredShare, measureCoverage } from '../../compare/coverage.ts'
import { resolveTape } from '../../store/home.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option, type ValueType } from '../options/option.ts'
import { jsonOption } from '../options/shared-options.ts'
import { showTapeReading } from '../output/progress.ts'
import { ReportOutput, reportOptions, type ReportFlags } from '../output/reports.ts'

interface CoverageFlags extends ReportFlags {
  readonly failUnder?: number
  readonly json?: true
}

const percentValue: ValueType<number> = {
  kind: 'value',
  name: 'percent',
  placeholder: 'percent',
  expected: 'a number from 0 to 100',
  parse: (given) => (/^\d{1,3}(?:\.\d+)?$/.test(given) && Number(given) <= 100 ? Number(given) : undefined),
}

export const coverageCommand: CommandDefinition = defineCommand<CoverageFlags>({
  name: 'coverage',
  usage: '[options] <tapes…>',
  arguments: { '<tapes...>': 'Tape names, or paths of tape files, which are counted together' },
  options: {
    failUnder: option(
      '--fail-under',
      percentValue,
      'Exit with code 1 if less than this percentage is covered',
    ),
    ...reportOptions('coverage'),
    json: jsonOption,
  },
  run: async (names, flags) => {
    const output = new ReportOutput('coverage', flags)
    showTapeReading()
    const report = await measureCoverage(names.map((name) => resolveTape(name)))
    const { failUnder } = flags
    const hasFailed = failUnder !== undefined && coveredShare(allPoints(report)) * 100 < failUnder
    await output.write({ ...report, ...(failUnder !== undefined && { hasFailed }) }, { command: 'coverage' })
    process.exitCode = hasFailed ? 1 : 0
  },
})
