// npm run picture: runs the commands below as a user would and writes what the terminal shows to docs/session.svg.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { build, installWhenNeeded, root } from './run.mjs'

const CALL = (city) =>
  [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'me', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'weather', arguments: { city } } },
  ]
    .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    .join('')

/** What is typed, what the client sends, and the lines of the output that are shown. */
const STEPS = [
  {
    typed: 'reelay record hello -- weather-server',
    note: 'a client asks for the weather in Oslo',
    sends: CALL('Oslo'),
    shown: /^\{.*"id":2|recorded/,
  },
  {
    typed: 'reelay serve hello',
    note: 'the same client, without the server',
    sends: CALL('Oslo'),
    shown: /^\{.*"id":2|answered/,
  },
  {
    typed: 'reelay serve hello',
    note: 'a request that was never recorded',
    sends: CALL('Bergen'),
    shown: /^REPLAY MISS|^why|^ {2}~|^fixes/,
  },
  {
    typed: 'reelay verify hello -- weather-server',
    note: 'does the server still respond as recorded?',
    sends: '',
    shown: /^noise:|as recorded/,
  },
]

const WIDTH = 108
const LINE = 20
const COLOURS = { typed: '#ffffff', plain: '#b6c2cf', miss: '#ffb86b', verdict: '#7ee787', note: '#768390' }

installWhenNeeded()
if ((await build()) !== 0) process.exit(1)
const home = mkdtempSync(join(tmpdir(), 'reelay-picture-'))
try {
  writeFileSync(join(root, 'docs', 'session.svg'), svgOf(STEPS.flatMap(runStep)))
} finally {
  rmSync(home, { recursive: true })
}

function runStep({ typed, note, sends, shown }) {
  mkdirSync(join(home, 'bin'), { recursive: true })
  rmSync(join(home, 'bin', 'reelay'), { force: true })
  symlinkSync(join(root, 'dist', 'cli', 'main.js'), join(home, 'bin', 'reelay'))
  const env = {
    ...process.env,
    REELAY_HOME: home,
    NO_COLOR: '1',
    PATH: `${join(home, 'bin')}${delimiter}${process.env.PATH}`,
  }
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', `${typed.replace('weather-server', 'reelay demo --server')} 2>&1`],
    {
      env,
      input: sends,
      encoding: 'utf8',
    },
  )
  const lines = `${stdout}${stderr}`.replaceAll(home, '~/.reelay').split('\n')
  return [
    { kind: 'typed', text: `$ ${typed}`, note: `# ${note}` },
    ...lines.filter((line) => shown.test(line)).map((text) => ({ kind: kindOf(text), text })),
    { kind: 'plain', text: '' },
  ]
}

function kindOf(text) {
  if (/REPLAY MISS|^why|^ {2}~/.test(text)) return 'miss'
  return text.startsWith('verdict') ? 'verdict' : 'plain'
}

function svgOf(lines) {
  const height = (lines.length + 1) * LINE + 30
  const rows = lines.map(({ kind, text, note }, at) => {
    const y = 52 + at * LINE
    const cut = text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text
    const comment = note === undefined ? '' : `<tspan fill="${COLOURS.note}">  ${escapeXml(note)}</tspan>`
    return `<text x="20" y="${y}" fill="${COLOURS[kind]}" xml:space="preserve">${escapeXml(cut)}${comment}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 ${height}" role="img" aria-label="A session is recorded, served without its server, and used to verify the server">
<rect width="960" height="${height}" rx="10" fill="#161b22"/>
<circle cx="22" cy="18" r="6" fill="#ff5f56"/><circle cx="42" cy="18" r="6" fill="#ffbd2e"/><circle cx="62" cy="18" r="6" fill="#27c93f"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
${rows.join('\n')}
</g>
</svg>
`
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
