import { afterEach, expect, test } from 'vitest'
import { serverName, tapeHeader } from './tape-header.ts'

const { TZ } = process.env
afterEach(() => {
  if (TZ === undefined) delete process.env['TZ']
  else process.env['TZ'] = TZ
})

test.each([
  ['UTC', undefined],
  ['Europe/Berlin', [60, 120]],
  ['Asia/Kolkata', [330, 330]],
])('a tape of %s has the offsets %j', (zone, utcOffsets) => {
  process.env['TZ'] = zone
  expect(tapeHeader(new Date(), {}, { tags: {} }).utcOffsets).toEqual(utcOffsets)
})

test.each([
  ['npx -y @acme/linear-mcp', 'linear-mcp'],
  ['npx -y @acme/linear-mcp@1.4.2 --flag', 'linear-mcp'],
  ['npx -p some-package the-server', 'the-server'],
  ['node dist/server.js --verbose', 'server'],
  ['node node_modules/@acme/linear-mcp/dist/index.js', 'linear-mcp'],
  ['node dist/index.js', 'index'],
  ['python3 weather/src/main.py', 'weather'],
  ['node --env-file .env dist/server.mjs', 'server'],
  ['python3 -m my_server', 'my_server'],
  ['uvx mcp-server-git --repository /x', 'mcp-server-git'],
  [
    'docker run -i --rm -e GITHUB_TOKEN=ghp_secret123 ghcr.io/github/github-mcp-server:latest',
    'github-mcp-server',
  ],
  ['docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server', 'github-mcp-server'],
  ['env API_KEY=sk-abc node weather.js', 'weather'],
  ['npx --token hunter2xyz @acme/linear-mcp', 'linear-mcp'],
  ['node -e code -- --key ghp_aB3dE5gH7jK9mN2pQ4sT6vX8', 'node'],
  ['node -e code -- --other ghp_aB3dE5gH7jK9mN2pQ4sT6vX8', 'node'],
  ['./bin/my-server', 'my-server'],
  ['C:\\tools\\server.exe', 'server'],
  ['sh -c exit', 'sh'],
  ['node', 'node'],
  ['../..', 'server'],
])('%s is called %s', (command, name) => {
  expect(serverName(command.split(' '))).toBe(name)
})

test('a script in a shell does not become a name', () => {
  expect(serverName(['bash', '-c', 'TOKEN=secret exec server > /dev/null'])).toBe('bash')
})
