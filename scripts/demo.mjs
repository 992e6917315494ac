// npm run demo: from a fresh clone to a recorded and replayed session, with nothing to configure.
import { build, installWhenNeeded, run } from './run.mjs'

installWhenNeeded()
const built = await build()
process.exitCode = built || run(process.execPath, ['dist/cli/main.js', 'demo'], { shell: false })
