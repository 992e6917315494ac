import { Command } from 'commander'
import { visibleJson } from '../wire/visible.ts'
import { doctorAsText } from '../wrap/doctor-text.ts'
import { print } from './print.ts'
import { withoutSecrets } from './without-secrets.ts'
import { here } from './wrap.ts'

export const doctorCommand: Command = new Command('doctor')
  .description('list what is wrapped in which client, and find what is wrong with it')
  .option('--offline', 'do not ask the servers behind bridges whether they are there')
  .option('--json', 'print the result as JSON')
  .action(async ({ offline, json }: { offline?: true; json?: true }) => {
    const { doctor } = await import('../wrap/doctor.ts')
    const checkup = await doctor(here(), offline ? { askFor: 'never' } : {})
    const shown = withoutSecrets() // a finding may quote a command line or a line of a config
    print(shown(json ? `${visibleJson(JSON.stringify(checkup))}\n` : doctorAsText(checkup)))
    process.exitCode = checkup.healthy ? 0 : 1
  })
