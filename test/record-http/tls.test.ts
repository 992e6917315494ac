import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeAuthority, makeLeaf } from '../../src/http/proxy/certificates.ts'
import { ask, post } from '../support/http.ts'
import { linesOf, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

test('a server behind TLS is recorded, and one with a bad certificate is a 502', async () => {
  const authority = await makeAuthority('Upstream CA', new Date())
  const cert = join(temporaryFolder(), 'upstream.pem')
  writeFileSync(cert, authority.cert)
  const server = createServer(await makeLeaf(authority, 'localhost', new Date()), (_req, res) =>
    res.end('{"jsonrpc":"2.0","id":1,"result":{}}'),
  )
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  await once(server.listen(0, 'localhost'), 'listening')
  const url = `https://localhost:${(server.address() as AddressInfo).port}/mcp`
  expect(await statusAndTape(url, { NODE_EXTRA_CA_CERTS: cert })).toEqual([
    200,
    '{"jsonrpc":"2.0","id":1,"result":{}}',
  ])
  expect(await statusAndTape(url, { NODE_EXTRA_CA_CERTS: undefined })).toEqual([
    502,
    'unable to verify the first certificate',
  ])
})

async function statusAndTape(url: string, env: NodeJS.ProcessEnv): Promise<unknown> {
  const tape = join(temporaryFolder(), 'tls.tape.jsonl')
  const run = start([process.execPath, REELAY, 'record', '-o', tape, '--url', url], {
    env: { ...process.env, ...env },
  })
  const given = (): string | undefined => /client: (\S+)/.exec(run.stderr())?.[1]
  await until(() => given() !== undefined)
  const { status } = await ask(given() ?? '', post({ jsonrpc: '2.0', id: 1, method: 'ping' }))
  run.child.kill('SIGTERM')
  await run.exited
  const last = linesOf(tape).at(-2)
  return [status, last?.['why'] ?? JSON.stringify(last?.['msg'])]
}
