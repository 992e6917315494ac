import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

// Unit tests start no programs: that keeps `npm run test:unit` quick. What needs one belongs into test/.
const STARTERS = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'] as const
for (const name of STARTERS)
  Object.assign(childProcess, {
    [name]: () => {
      throw new Error(`a unit test must not start a process (${name}): move it to test/`)
    },
  })
syncBuiltinESMExports()
