import { Command } from 'commander'
import { escapeControlCharsInJson } from '../text.ts'
import { formatDoctorReport } from '../wrap/doctor/doctor-text.ts'
import { print } from './output/print.ts'
import { createOutputRedactor } from './output/redact-output.ts'
import { configEnvironment } from './wrap.ts'

export const doctorCommand: Command = new Command('doctor')
  .description('list what is wrapped in which client, and find what is wrong with it')
  .option('--offline', 'do not ask the servers behind bridges whether they are there')
  .option('--json', 'print the result as JSON')
  .action(async ({ offline, json }: { offline?: true; json?: true }) => {
    const { runDoctor } = await import('../wrap/doctor/doctor.ts')
    const checkup = await runDoctor(configEnvironment(), offline ? { probeTimeoutMs: 'never' } : {})
    const shown = createOutputRedactor() // a finding may quote a command line or a line of a config
    print(
      shown(json ? `${escapeControlCharsInJson(JSON.stringify(checkup))}\n` : formatDoctorReport(checkup)),
    )
    process.exitCode = checkup.healthy ? 0 : 1
  })
