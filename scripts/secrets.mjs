// npm run secrets [-- --seed N]: makes a fake of every kind of secret that the default rules know, puts it into every wrapping and
// every place of a session, and counts what remains on tapes, on stderr and in shared copies. Then it counts the ordinary texts
// that are changed: documentation, source code and lock files of the installed packages.
import { build, installWhenNeeded } from './run.mjs'

const seedAt = process.argv.indexOf('--seed')
const seed = seedAt < 0 ? 15 : Number(process.argv[seedAt + 1])

installWhenNeeded()
if ((await build()) !== 0) process.exit(3)
const { picker, secretKinds } = await import('./secrets/fakes.mjs')
const { findLeaksInTexts, findLeaksInSession } = await import('./secrets/leaks.mjs')
const { changedTexts } = await import('./secrets/ordinary-texts.mjs')

const kinds = await secretKinds()
console.log(`${new Set(kinds.map(({ rule }) => rule)).size} rules, ${kinds.length} kinds of fake secrets\n`)
const pick = await picker(seed)
const leaks = (await findLeaksInTexts(kinds, pick)) + (await findLeaksInSession(kinds, pick))
await changedTexts()
process.exitCode = leaks > 0 ? 1 : 0
