import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'
import { escapeControlCharsInJson } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { switchOn } from '../options/option-types.ts'
import { option } from '../options/option.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { configEnvironment } from './wrap.ts'

export const doctorCommand: CommandDefinition = defineCommand<{ offline?: true; json?: true }>({
  name: 'doctor',
  options: {
    offline: option('--offline', switchOn, 'Do not contact the servers behind bridges'),
    json: jsonOption,
  },
  run: async (_, { offline, json }) => {
    const { formatDoctorReport, runDoctor } = await import('../../wrap/doctor/doctor.ts')
    const redactor = createThrowawayRedactor()
    const report = await runDoctor(configEnvironment(), {
      ...(offline && { probeTimeoutMs: 'never' }),
      holdsSecret: (text) => redactor.text(text) !== text,
    })
    const redact = createOutputRedactor() // a finding may quote a command line or a line of a config
    print(redact(json ? `${escapeControlCharsInJson(JSON.stringify(report))}\n` : formatDoctorReport(report)))
    process.exitCode = report.healthy ? 0 : 1
  },
})
