import { build, installWhenNeeded } from './run.mjs'

installWhenNeeded()
process.exitCode = await build()
