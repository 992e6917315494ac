import { expect, test } from 'vitest'
import { jsonConfigFormat } from '../configs/formats/json.ts'
import { findConfigRisks } from './config-risks.ts'

const holdsSecret = (text: string): boolean => /hunter2|_TOKEN=[a-z0-9]{8,}/.test(text)

function risksOf(entry: object): readonly string[] {
  const text = JSON.stringify({ mcpServers: { s: entry } })
  return jsonConfigFormat
    .readEntries(text, ['mcpServers'])
    .flatMap((each) => findConfigRisks(each, holdsSecret))
    .map(({ kind, about }) => `${kind}: ${about}`)
}

test.each([
  [
    'a package without a version',
    { command: 'npx', args: ['-y', '@acme/files'] },
    'unpinned-package: s runs the newest @acme/files, whatever it is at that time',
  ],
  [
    'a tag instead of a version',
    { command: 'npx', args: ['acme@latest'] },
    'unpinned-package: s runs the newest acme@latest',
  ],
  [
    'a package of Python',
    { command: 'uvx', args: ['mcp-server-git'] },
    'unpinned-package: s runs the newest mcp-server-git',
  ],
  [
    'a package behind the recorder',
    { command: 'reelay', args: ['record', 's', '--', 'npx', '-y', 'acme'] },
    'unpinned-package: s runs the newest acme',
  ],
  ['another verb', { command: 'pnpm', args: ['dlx', 'acme'] }, 'unpinned-package: s runs the newest acme'],
  [
    'a secret in the environment',
    { command: 'acme', env: { ACME_TOKEN: 'abcd1234efgh' } },
    'secret-in-config: ACME_TOKEN of s is a secret in plain text',
  ],
  [
    'a secret among the arguments',
    { command: 'acme', args: ['--password', 'hunter2'] },
    'secret-in-config: the arguments of s contain a secret in plain text',
  ],
  [
    'a remote server without TLS',
    { url: 'http://mcp.example.com/mcp?x=1' },
    'no-tls: s is reached without TLS: http://mcp.example.com',
  ],
])('%s is a risk', (_, entry, expected) => {
  expect(risksOf(entry)).toEqual([expect.stringContaining(expected)])
})

test.each([
  ['a version', { command: 'npx', args: ['-y', '@acme/files@1.2.3'] }],
  ['a version of Python', { command: 'uvx', args: ['mcp-server-git==1.0.0'] }],
  ['a local file', { command: 'npx', args: ['./server'] }],
  ['a variable', { command: 'acme', env: { ACME_TOKEN: '${ACME_TOKEN}' } }],
  ['a server on this machine', { url: 'http://localhost:3000/mcp' }],
  ['TLS', { url: 'https://mcp.example.com/mcp' }],
  ['another verb of npm', { command: 'npm', args: ['start'] }],
])('%s is no risk', (_, entry) => {
  expect(risksOf(entry)).toEqual([])
})
