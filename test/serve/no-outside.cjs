// Preloaded by a test: whatever reaches outside of the process ends it with a code of its own.
const { syncBuiltinESMExports } = require('node:module')

function forbid(name, object, key) {
  object[key] = () => {
    process.stderr.write(`forbidden: ${name}\n`)
    process.exit(99)
  }
}

const net = require('node:net')
const childProcess = require('node:child_process')
forbid('connect', net.Socket.prototype, 'connect')
forbid('listen', net.Server.prototype, 'listen')
forbid('lookup', require('node:dns'), 'lookup')
forbid('udp', require('node:dgram'), 'createSocket')
for (const key of ['spawn', 'exec', 'execFile', 'fork', 'spawnSync', 'execSync', 'execFileSync'])
  forbid(key, childProcess, key)
globalThis.fetch = () => process.exit(99)
syncBuiltinESMExports()
