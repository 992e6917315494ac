import { readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { WRAPPABLE_CLIENTS } from '../../src/wrap/clients/index.ts'
import { temporaryFolder } from '../support/recorder.ts'
import { deskIn } from './desk.ts'

const SAMPLES = [
  {
    client: 'claude-desktop',
    sample: 'claude-desktop.json',
    file: 'home/.config/Claude/claude_desktop_config.json',
  },
  { client: 'claude-code', sample: 'claude-code.json', file: 'project/.mcp.json' },
  { client: 'cursor', sample: 'cursor.json', file: 'project/.cursor/mcp.json' },
  { client: 'vscode', sample: 'vscode.json', file: 'project/.vscode/mcp.json' },
  { client: 'codex', sample: 'codex.toml', file: 'home/.codex/config.toml' },
  { client: 'gemini', sample: 'gemini.json', file: 'home/.gemini/settings.json' },
  { client: 'zed', sample: 'zed.json', file: 'home/.config/zed/settings.json' },
]

const WRAPPED =
  /"\/opt\/node\/bin\/node"[^]*"\/opt\/reelay\/dist\/cli\/main\.js", "record", "--numbered", "--server", "linear", "[^"]*\/linear-[a-z-]*\.tape\.jsonl", "--", "npx", "-y", "@acme\/linear-mcp"/

test.each(SAMPLES)(
  'the config of $client is wrapped where it is and restored byte for byte',
  ({ client, sample, file }) => {
    const before = sampleText(sample)
    const desk = deskIn(temporaryFolder())
    desk.write(file, before)
    expect(desk.wrap(['linear']).outcomes).toMatchObject([{ kind: 'wrapped', client, server: 'linear' }])
    expect(desk.read(file)).toMatch(WRAPPED)
    expect(desk.read(file).split('\n')).toHaveLength(before.split('\n').length)
    desk.unwrap(['linear'])
    expect(desk.read(file)).toBe(before)
  },
)

test.each(SAMPLES)('of $client, everything but command and args stays as it was', ({ sample, file }) => {
  const desk = deskIn(temporaryFolder())
  desk.write(file, sampleText(sample))
  desk.wrap(['linear'])
  const after = desk.read(file)
  expect(without(after)).toBe(without(sampleText(sample)))
})

test('Zed: a command in an object of its own is wrapped inside it, and what an extension starts is left alone', () => {
  const desk = deskIn(temporaryFolder())
  const file = 'home/.config/zed/settings.json'
  desk.write(file, sampleText('zed.json'))
  const { outcomes } = desk.wrap('all')
  expect(outcomes.map((outcome) => ('server' in outcome ? [outcome.server, outcome.kind] : []))).toEqual([
    ['linear', 'wrapped'],
    ['older', 'wrapped'],
    ['from-an-extension', 'odd'],
    ['notion', 'wrapped'],
  ])
  const older = desk
    .read(file)
    .split('\n')
    .find((line) => line.includes('"older"'))
  expect(older).toMatch(
    /^ {4}"older": \{ "command": \{ "path": "\/opt\/node\/bin\/node", "args": \[.*"--", "npx", "-y", "@acme\/older-mcp"\], "env": \{\} \}, "settings": \{\} \},$/,
  )
  desk.unwrap('all')
  expect(desk.read(file)).toBe(sampleText('zed.json'))
})

test('Claude Code: a server of this project alone is found in the file of the user', () => {
  const desk = deskIn(temporaryFolder())
  const local = { mcpServers: { linear: { command: 'npx' } } }
  const text = JSON.stringify({ projects: { [desk.where.cwd]: local, '/elsewhere': local } }, null, 2)
  desk.write('home/.claude.json', text)
  expect(desk.wrap('all').outcomes).toHaveLength(1)
  expect(desk.read('home/.claude.json').split('record')).toHaveLength(2)
  desk.unwrap('all')
  expect(desk.read('home/.claude.json')).toBe(text)
})

const CONFIG_FOLDER = {
  darwin: 'home/Library/Application Support',
  win32: 'home/AppData/Roaming',
  linux: 'home/.config',
}
const ZED_FOLDER = {
  darwin: 'home/.config/zed',
  win32: `${CONFIG_FOLDER.win32}/Zed`,
  linux: 'home/.config/zed',
}

test.each(['darwin', 'win32', 'linux'] as const)('on %s, every client has its own places', (platform) => {
  const folder = temporaryFolder()
  const { where } = deskIn(folder, platform)
  const places = WRAPPABLE_CLIENTS.flatMap((client) => client.configLocations(where)).map(({ file }) =>
    relative(folder, file),
  )
  expect(places.map((place) => place.split(sep).join('/'))).toEqual([
    `${CONFIG_FOLDER[platform]}/Claude/claude_desktop_config.json`,
    'project/.mcp.json',
    'home/.claude.json',
    'project/.cursor/mcp.json',
    'home/.cursor/mcp.json',
    'project/.vscode/mcp.json',
    `${CONFIG_FOLDER[platform]}/Code/User/mcp.json`,
    'project/.codex/config.toml',
    'home/.codex/config.toml',
    'project/.gemini/settings.json',
    'home/.gemini/settings.json',
    'project/.zed/settings.json',
    `${ZED_FOLDER[platform]}/settings.json`,
  ])
})

test('variables that move the folders of clients are heeded', () => {
  const folder = temporaryFolder()
  const env = {
    XDG_CONFIG_HOME: '/xdg',
    CODEX_HOME: '/codex',
    CLAUDE_CONFIG_DIR: '/claude',
    APPDATA: '/appdata',
  }
  const files = (platform: NodeJS.Platform): readonly string[] =>
    WRAPPABLE_CLIENTS.flatMap((client) => client.configLocations({ ...deskIn(folder).where, platform, env }))
      .map(({ file }) => file.split(sep).join('/'))
      .filter((file) => !file.startsWith(folder))
  expect(files('linux')).toEqual([
    '/xdg/Claude/claude_desktop_config.json',
    '/claude/.claude.json',
    '/xdg/Code/User/mcp.json',
    '/codex/config.toml',
    '/xdg/zed/settings.json',
  ])
  expect(files('win32')).toContain('/appdata/Claude/claude_desktop_config.json')
})

function without(text: string): string {
  return text.replace(/"?command"?(:| =) ("[^"]*")/, 'command').replace(/"?args"?(:| =) \[[^\]]*\]/, 'args')
}

function sampleText(name: string): string {
  return readFileSync(join('test/fixtures/configs', name), 'utf8')
}
