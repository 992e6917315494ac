import { hostname } from 'node:os'
import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { caFolder, readCa, removeCa, writeCa, type CaFiles } from '../store/ca-files.ts'
import { print } from './output/print.ts'

export const caCommand: Command = new Command('ca')
  .description('make, show or remove the local CA with which `record --forward` looks into HTTPS')
  .addCommand(
    new Command('create')
      .description('make a local CA, valid for two years; nothing trusts it until you say so')
      .action(async () => {
        const { makeAuthority } = await import('../http/proxy/certificates.ts')
        const now = new Date()
        const name = `Reelay local CA ${now.toISOString().slice(0, 10)} ${hostname()}`
        print(caDescription(writeCa(caFolder(), await makeAuthority(name.slice(0, 64), now))))
      }),
  )
  .addCommand(
    new Command('show')
      .description('print where the certificate is, and how to trust it')
      .action(() => print(caDescription(requireCa()))),
  )
  .addCommand(
    new Command('remove').description('remove the local CA and its private key').action(() => {
      if (!removeCa(caFolder())) throw caNotFound()
      print('removed the local CA; take it out of every place where you said that it is to be trusted\n')
    }),
  )

function requireCa(): CaFiles {
  const ca = readCa(caFolder())
  if (ca === undefined) throw caNotFound()
  return ca
}

function caNotFound(): ReelayError {
  return new ReelayError('CA_NOT_FOUND', `there is no local CA in ${caFolder()}`, {
    hint: 'make one with reelay ca create',
  })
}

function caDescription({ certPath, keyPath, expires }: CaFiles): string {
  return `certificate  ${certPath}
private key  ${keyPath} (whoever has it can read what trusts the certificate: never share it)
valid until  ${expires.toISOString().slice(0, 10)}

A client that is started by \`reelay record --forward -- <client command>\` is told to trust it. For others, say so yourself:
  Node            NODE_EXTRA_CA_CERTS=${certPath}
  curl            curl --cacert ${certPath}
  Python requests REQUESTS_CA_BUNDLE=${certPath}
Better not trust it in the whole system; if you do, undo that when you are done.
`
}
