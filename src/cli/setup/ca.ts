import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { ReelayError } from '../../errors.ts'
import { caFolder, readCa, removeCa, writeCa, type CaFiles } from '../../store/ca-files.ts'
import { isHostHeader } from '../../http/hosts.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option } from '../options/option.ts'
import { listOf, textValue } from '../options/option-types.ts'
import { print } from '../output/print.ts'

interface CreateFlags {
  readonly host?: readonly string[]
}

const hostValue = {
  ...textValue,
  name: 'host',
  placeholder: 'host',
  expected: 'a host name or an IP address without a port, e.g. api.example.com',
  parse: (given: string) => {
    const isAddress = isIP(given) !== 0
    return isAddress || (isHostHeader(given) && !given.includes(':')) ? given : undefined
  },
}

export const caCommand: CommandDefinition = {
  name: 'ca',
  options: {},
  commands: [
    defineCommand<CreateFlags>({
      parent: 'ca',
      name: 'create',
      help: 'Create a local CA that is valid for one year; no program trusts it until you configure it to',
      options: {
        host: option(
          '--host',
          listOf(hostValue),
          'Limit the CA to this host and its subdomains; HTTPS to other hosts is then forwarded unread (repeatable)',
        ),
      },
      run: async (_, { host = [] }) => {
        const { makeAuthority } = await import('../../http/proxy/certificates.ts')
        const now = new Date()
        const name = `Reelay local CA ${now.toISOString().slice(0, 10)} ${hostname()}`
        const authority = await makeAuthority(name.slice(0, 64), now, host)
        print(await caDescription(writeCa(caFolder(), authority)))
      },
    }),
    {
      name: 'show',
      help: 'Show where the certificate is and how to trust it',
      options: {},
      run: async () => print(await caDescription(requireCa())),
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

async function caDescription({ cert, certPath, keyPath, expires }: CaFiles): Promise<string> {
  const { permittedHosts } = await import('../../http/proxy/certificates.ts')
  const hosts = await permittedHosts({ cert })
  return `certificate  ${certPath}
private key  ${keyPath} (never share it: it gives access to the traffic of everything that trusts the certificate)
valid until  ${expires.toISOString().slice(0, 10)}
valid for    ${hosts.length === 0 ? 'all hosts' : `${hosts.join(', ')} (and subdomains)`}

Clients that \`reelay record --forward -- <client command>\` starts trust it automatically. Configure other clients yourself:
  Node            NODE_EXTRA_CA_CERTS=${certPath}
  curl            curl --cacert ${certPath}
  Python requests REQUESTS_CA_BUNDLE=${certPath}
Avoid trusting it system-wide. If you do, undo it when you are done.
`
}
