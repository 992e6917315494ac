import { hostname } from 'node:os'
import { ReelayError } from '../errors.ts'
import { caFolder, readCa, removeCa, writeCa, type CaFiles } from '../store/ca-files.ts'
import type { CommandDefinition } from './command.ts'
import { print } from './output/print.ts'

export const caCommand: CommandDefinition = {
  name: 'ca',
  help: 'Create, show or remove the local CA that lets `record --forward` read HTTPS',
  options: {},
  commands: [
    {
      name: 'create',
      help: 'Create a local CA that is valid for two years; no program trusts it until you configure it to',
      options: {},
      run: async () => {
        const { makeAuthority } = await import('../http/proxy/certificates.ts')
        const now = new Date()
        const name = `Reelay local CA ${now.toISOString().slice(0, 10)} ${hostname()}`
        print(caDescription(writeCa(caFolder(), await makeAuthority(name.slice(0, 64), now))))
      },
    },
    {
      name: 'show',
      help: 'Show where the certificate is and how to trust it',
      options: {},
      run: () => print(caDescription(requireCa())),
    },
    {
      name: 'remove',
      help: 'Remove the local CA and its private key',
      options: {},
      run: () => {
        if (!removeCa(caFolder())) throw caNotFound()
        print('removed the local CA; also remove it from every program that you configured to trust it\n')
      },
    },
  ],
}

function requireCa(): CaFiles {
  const ca = readCa(caFolder())
  if (ca === undefined) throw caNotFound()
  return ca
}

function caNotFound(): ReelayError {
  return new ReelayError('CA_NOT_FOUND', `there is no local CA in ${caFolder()}`, {
    hint: 'create one with reelay ca create',
  })
}

function caDescription({ certPath, keyPath, expires }: CaFiles): string {
  return `certificate  ${certPath}
private key  ${keyPath} (never share it: it gives access to the traffic of everything that trusts the certificate)
valid until  ${expires.toISOString().slice(0, 10)}

Clients that \`reelay record --forward -- <client command>\` starts trust it automatically. Configure other clients yourself:
  Node            NODE_EXTRA_CA_CERTS=${certPath}
  curl            curl --cacert ${certPath}
  Python requests REQUESTS_CA_BUNDLE=${certPath}
Avoid trusting it system-wide. If you do, undo it when you are done.
`
}
