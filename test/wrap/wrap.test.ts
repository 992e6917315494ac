import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { wrapExitCode } from '../../src/wrap/wrap-result.ts'
import { unwrapServers, wrapServers } from '../../src/wrap/wrap.ts'
import { temporaryFolder } from '../support/recorder.ts'
import { deskIn, RECORDER, type Desk } from './desk.ts'

const CURSOR = 'home/.cursor/mcp.json'
const TWO = `{
  // two servers
  "mcpServers": {
    "linear": { "command": "npx", "args": ["-y", "@acme/linear-mcp"] },
    "files": { "command": "files-mcp" },
  },
}
`

let folder: string
let desk: Desk
beforeEach(() => {
  folder = temporaryFolder()
  desk = deskIn(folder)
})

test('a server that several clients hold is wrapped in all of them, or in the one that is named', () => {
  desk.write(CURSOR, TWO)
  desk.write('project/.mcp.json', TWO)
  expect(desk.wrap(['linear'], { client: 'claude-code' }).outcomes).toMatchObject([{ client: 'claude-code' }])
  expect(desk.read(CURSOR)).toBe(TWO)
  expect(desk.wrap(['linear']).outcomes.map(({ client, kind }) => [client, kind])).toEqual([
    ['claude-code', 'already-wrapped'],
    ['cursor', 'wrapped'],
  ])
})

test('a dry run shows the diff and writes nothing at all', () => {
  const file = desk.write(CURSOR, TWO)
  const { diffs, outcomes } = desk.wrap('all', { dryRun: true })
  expect(outcomes.map(({ kind }) => kind)).toEqual(['wrapped', 'wrapped'])
  expect(diffs.join('\n').replaceAll(folder, '<folder>')).toMatchInlineSnapshot(`
    "--- <folder>/home/.cursor/mcp.json
    +++ <folder>/home/.cursor/mcp.json
    @@ -1,7 +1,7 @@
     {
       // two servers
       "mcpServers": {
    -    "linear": { "command": "npx", "args": ["-y", "@acme/linear-mcp"] },
    -    "files": { "command": "files-mcp" },
    +    "linear": { "command": "/opt/node/bin/node", "args": ["/opt/reelay/dist/cli/main.js", "record", "--numbered", "--server", "linear", "<folder>/reelay/tapes/linear-cursor.tape.jsonl", "--", "npx", "-y", "@acme/linear-mcp"] },
    +    "files": { "command": "/opt/node/bin/node", "args": ["/opt/reelay/dist/cli/main.js", "record", "--numbered", "--server", "files", "<folder>/reelay/tapes/files-cursor.tape.jsonl", "--", "files-mcp"] },
       },
     }"
  `)
  expect(desk.read(CURSOR)).toBe(TWO)
  expect(readdirSync(dirname(file))).toEqual(['mcp.json'])
  expect(readdirSync(folder).toSorted()).toEqual(['home', 'project'])
})

test('the diff of lines that lie apart has a hunk for each', () => {
  const between = Array.from({ length: 9 }, (_, index) => `    "k${index}": ${index},\n`).join('')
  desk.write(
    CURSOR,
    `{ "mcpServers": {\n  "x": {\n    "command": "a",\n${between}    "args": ["b"]\n  } } }\n`,
  )
  const [diff = ''] = desk.wrap(['x'], { dryRun: true }).diffs
  expect(diff.split('\n').filter((line) => line.startsWith('@@'))).toEqual([
    '@@ -1,6 +1,6 @@',
    '@@ -10,5 +10,5 @@',
  ])
  expect(diff.split('\n').filter((line) => /^[-+] /.test(line))).toHaveLength(4)
})

test.each([
  ['JSON', CURSOR, '{\n  "mcpServers": { "linear" { } }\n}', 'line 2, column 28: colon expected'],
  ['TOML', 'home/.codex/config.toml', '[mcp_servers.linear]\ncommand = npx\n', 'line 2, column 11'],
  ['text that is not UTF-8', CURSOR, Buffer.from([0x7b, 0xff, 0x7d]).toString('latin1'), ''],
])('broken %s is refused with its place and left alone', (kind, name, text, place) => {
  const file = desk.write(name, '')
  const bytes = kind.startsWith('text') ? Buffer.from(text, 'latin1') : Buffer.from(text)
  writeFileSync(file, bytes)
  const result = desk.wrap('all')
  expect(result.outcomes).toMatchObject([{ kind: 'refused', code: 'CONFIG_BROKEN', file }])
  expect(JSON.stringify(result.outcomes)).toContain(place)
  expect(wrapExitCode(result, 'all')).toBe(3)
  expect(readFileSync(file).equals(bytes)).toBe(true)
})

test('a broken config does not keep the others from being wrapped', () => {
  desk.write('project/.mcp.json', '{ "mcpServers": ')
  desk.write(CURSOR, TWO)
  expect(desk.wrap(['linear']).outcomes.map(({ kind }) => kind)).toEqual(['refused', 'wrapped'])
})

test('a config that another program changes at this very moment is not overwritten', () => {
  const file = desk.write(CURSOR, TWO)
  const theirs = TWO.replace('two', 'our')
  const now = (): Date => {
    writeFileSync(file, theirs) // after we have read it, before we write it
    return new Date(0)
  }
  const { outcomes } = wrapServers({
    servers: 'all',
    where: desk.where,
    dryRun: false,
    recorder: RECORDER,
    now,
  })
  expect(outcomes).toMatchObject([{ kind: 'refused', code: 'CONFIG_UNWRITABLE' }])
  expect(desk.read(CURSOR)).toBe(theirs)
  expect(desk.unwrap('all').outcomes).toEqual([])
})

test('without a place for the backup nothing is changed', () => {
  const file = desk.write(CURSOR, TWO)
  mkdirSync(join(`${file}.reelay-backup`, 'in the way'), { recursive: true })
  expect(desk.wrap('all').outcomes).toMatchObject([{ kind: 'refused', code: 'CONFIG_UNWRITABLE' }])
  expect(desk.read(CURSOR)).toBe(TWO)
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['mcp.json', 'mcp.json.reelay-backup'])
})

test('a list of wrapped entries that cannot be read stops wrap and unwrap, and says what to do', () => {
  desk.write(CURSOR, TWO)
  desk.write('reelay/wrapped.json', '{"version":1,"entries":[{}]}')
  for (const attempt of [() => desk.wrap('all'), () => desk.unwrap('all')])
    expect(attempt).toThrow(
      expect.objectContaining({ code: 'CONFIG_BROKEN', hint: expect.stringContaining('move the file away') }),
    )
  expect(desk.read(CURSOR)).toBe(TWO)
})

test('an entry that cannot be wrapped is named and left alone; naming it alone is a no', () => {
  const text = '{ "mcpServers": { "notion": { "extension": "notion" } } }'
  desk.write(CURSOR, text)
  const result = desk.wrap(['notion'])
  expect(result.outcomes).toMatchObject([{ kind: 'odd', server: 'notion' }])
  expect([wrapExitCode(result, ['notion']), wrapExitCode(result, 'all')]).toEqual([1, 0])
  expect(desk.read(CURSOR)).toBe(text)
})

test('a server that no config holds is refused with the names that exist', () => {
  desk.write(CURSOR, TWO)
  const attempt = (): unknown => desk.wrap(['linaer'])
  expect(attempt).toThrow(
    expect.objectContaining({
      code: 'SERVER_NOT_FOUND',
      hint: 'the servers are: linear, files; did you mean linear?',
    }),
  )
})

test('an entry that a person wrapped by hand counts as wrapped, and can be unwrapped', () => {
  const entry = { command: 'reelay', args: ['record', 'files', '--', 'npx', '-y', 'files-mcp'] }
  desk.write(CURSOR, JSON.stringify({ mcpServers: { files: entry } }))
  expect(desk.wrap(['files']).outcomes).toMatchObject([{ kind: 'already-wrapped' }])
  expect(desk.unwrap(['files']).outcomes).toMatchObject([{ kind: 'unwrapped', exact: false }])
  expect(JSON.parse(desk.read(CURSOR))).toEqual({
    mcpServers: { files: { command: 'npx', args: ['-y', 'files-mcp'] } },
  })
})

test('a config that a program wrote anew in between is restored in what it means', () => {
  desk.write(
    'home/.claude.json',
    '{"mcpServers":{"linear":{"command":"npx","args":["-y"]},"bare":{"command":"x"}}}',
  )
  desk.wrap('all')
  desk.write('home/.claude.json', JSON.stringify(JSON.parse(desk.read('home/.claude.json')), null, 4))
  expect(desk.unwrap('all').outcomes).toMatchObject([{ exact: false }, { exact: false }])
  expect(JSON.parse(desk.read('home/.claude.json'))).toEqual({
    mcpServers: { linear: { command: 'npx', args: ['-y'] }, bare: { command: 'x', args: [] } },
  })
})

test('an argument that the user added to a wrapped entry stays when it is unwrapped', () => {
  desk.write(CURSOR, TWO)
  desk.wrap(['linear'])
  desk.write(CURSOR, desk.read(CURSOR).replace('"@acme/linear-mcp"]', '"@acme/linear-mcp", "--debug"]'))
  expect(desk.unwrap(['linear']).outcomes).toMatchObject([{ exact: true }])
  expect(desk.read(CURSOR)).toBe(TWO.replace('"@acme/linear-mcp"]', '"@acme/linear-mcp", "--debug"]'))
})

test('an argument that the user gave to an entry without any stays when it is unwrapped', () => {
  desk.write(
    CURSOR,
    '{ "mcpServers": { "none": { "command": "x" }, "empty": { "command": "x", "args": [ ] } } }',
  )
  desk.wrap('all')
  desk.write(CURSOR, desk.read(CURSOR).replaceAll(/"--", "x"/g, '"--", "x", "--debug"'))
  expect(desk.unwrap('all').outcomes).toMatchObject([{ exact: false }, { exact: false }])
  const restored = { command: 'x', args: ['--debug'] }
  expect(JSON.parse(desk.read(CURSOR))).toEqual({ mcpServers: { none: restored, empty: restored } })
})

test('the backup is the file before its first entry was wrapped, and goes when the file is equal to it again', () => {
  const file = desk.write(CURSOR, TWO)
  const backup = `${file}.reelay-backup`
  desk.wrap(['linear'])
  desk.wrap(['files'])
  expect(readFileSync(backup, 'utf8')).toBe(TWO)
  expect(statSync(backup).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600)
  desk.unwrap(['linear'])
  expect(readFileSync(backup, 'utf8')).toBe(TWO)
  desk.unwrap(['files'])
  expect(readdirSync(dirname(file))).toEqual(['mcp.json'])
})

test('a backup that holds something the config no longer has stays, until the next first wrap', () => {
  const file = desk.write(CURSOR, TWO)
  desk.wrap(['linear'])
  desk.write(CURSOR, desk.read(CURSOR).replace('// two servers', '// my servers'))
  desk.unwrap('all')
  const edited = TWO.replace('// two servers', '// my servers')
  expect([desk.read(CURSOR), readFileSync(`${file}.reelay-backup`, 'utf8')]).toEqual([edited, TWO])
  desk.wrap(['linear'])
  expect(readFileSync(`${file}.reelay-backup`, 'utf8')).toBe(edited)
})

test.skipIf(process.platform === 'win32')('the mode of a config and a link to it stay as they are', () => {
  mkdirSync(join(folder, 'dotfiles'))
  mkdirSync(join(folder, 'home/.cursor'), { recursive: true })
  const [real, link] = [join(folder, 'dotfiles/mcp.json'), join(folder, CURSOR)]
  writeFileSync(real, TWO)
  chmodSync(real, 0o640)
  symlinkSync(real, link)
  desk.wrap('all')
  expect([lstatSync(link).isSymbolicLink(), statSync(real).mode & 0o777]).toEqual([true, 0o640])
  expect(readFileSync(real, 'utf8')).toContain('record')
  expect(desk.unwrap('all').outcomes).toMatchObject([{ exact: true }, { exact: true }])
  expect(readFileSync(real, 'utf8')).toBe(TWO)
})

test.skipIf(process.platform === 'win32')('what Reelay remembers is for its owner alone', () => {
  desk.write(CURSOR, TWO)
  desk.wrap('all')
  const home = join(folder, 'reelay')
  expect([statSync(home).mode & 0o777, statSync(join(home, 'wrapped.json')).mode & 0o777]).toEqual([
    0o700, 0o600,
  ])
})

test('unwrap --all also finds what was wrapped in the config of another project', () => {
  desk.write('project/.mcp.json', TWO)
  desk.wrap('all')
  expect(desk.read('project/.mcp.json')).not.toBe(TWO)
  unwrapServers({ servers: 'all', dryRun: false, where: { ...desk.where, cwd: join(folder, 'elsewhere') } })
  expect(desk.read('project/.mcp.json')).toBe(TWO)
})

test('an entry that vanished from its config is forgotten by unwrap', () => {
  const file = desk.write(CURSOR, TWO)
  desk.wrap('all')
  rmSync(file)
  expect(desk.unwrap('all').outcomes.map(({ kind }) => kind)).toEqual(['forgotten', 'forgotten'])
  expect(desk.unwrap('all').outcomes).toEqual([])
})

test('--file takes a config from anywhere and tells by its content whose it is', () => {
  desk.write('project/some.json', '{ "servers": { "linear": { "command": "npx" } } }')
  desk.write('project/some.toml', 'mcp_servers.linear.command = "npx"\n')
  expect(desk.wrap('all', { file: 'some.json' }).outcomes).toMatchObject([
    { kind: 'wrapped', client: 'vscode' },
  ])
  expect(desk.wrap('all', { file: 'some.toml' }).outcomes).toMatchObject([
    { kind: 'wrapped', client: 'codex' },
  ])
  expect(() => desk.wrap('all', { file: 'none.json' })).toThrow(
    expect.objectContaining({ code: 'CONFIG_NOT_FOUND' }),
  )
})

test('a server gets a tape name that is allowed on every system', () => {
  const names = ['a b/c', 'größe', 'con', '..', 'x.jsonl']
  desk.write(
    CURSOR,
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: 'x' }])) }),
  )
  const tapes = desk.wrap('all').outcomes.map((outcome) => (outcome.kind === 'wrapped' ? outcome.tape : ''))
  const bare = tapes.map((tape) => tape.split(/[\\/]/).at(-1)?.replace('.tape.jsonl', ''))
  expect(bare).toEqual(['a-b-c-cursor', 'gr-e-cursor', 'con-cursor', 'server-cursor', 'x-jsonl-cursor'])
})
