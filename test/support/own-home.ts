import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Programs under test keep keys and caches in the home folder. Each worker gets its own, so that no test meets a file
// that another is writing, and none touches the files of the developer who runs the tests.
const home = join(tmpdir(), `reelay-home-of-tests-${process.env['VITEST_POOL_ID'] ?? '0'}`)
mkdirSync(home, { recursive: true })
process.env['REELAY_HOME'] = join(home, '.reelay')
process.env['HOME'] = home
process.env['USERPROFILE'] = home
