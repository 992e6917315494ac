// npm run runners: the tests of useTape in Vitest, Jest, node:test and Playwright, on every supported version of Node.
import { delimiter } from 'node:path'
import { installNode, NODES } from './pinned.mjs'
import { installWhenNeeded, runTool } from './run.mjs'

installWhenNeeded()
const env = { ...process.env, REELAY_NODES: NODES.map(installNode).join(delimiter) }
const words = ['run', '--project', 'programs', 'test/testing/runners.test.ts', '--reporter=verbose']
process.exitCode = runTool('vitest', [...words, '-t', 'records once'], { env })
