import { Command } from 'commander'
import { saveRedaction, type RuleAdditions } from '../config/save-redaction.ts'
import { ReelayError } from '../errors.ts'
import type { RuleChanges } from '../redact/rule-set.ts'
import { redactTape, type RedactionFacts } from '../share/redacted-tape.ts'
import { redactCopy } from '../share/share-tape.ts'
import { tapeRedaction } from '../share/tape-redaction.ts'
import { resolveTape } from '../store/home.ts'
import { openTape } from '../store/read.ts'
import { visible } from '../wire/visible.ts'
import { print } from './print.ts'
import { review } from './redact-review.ts'
import { additionsIn, changesBy, type RuleFlags } from './redact-rules.ts'

export const redactCommand: Command = new Command('redact')
  .description('look for secrets on a tape (exit code 1 when there are any), or write a copy without them')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('-o, --output <file>', 'write a copy with stand-ins to this file (never over an existing one)')
  .option('--review', 'ask about each value on the terminal, then write the copy')
  .option('--rule <name=pattern>', 'another kind of secret, by a pattern; may be repeated', collect)
  .option('--field <name>', 'another name whose values are secrets; may be repeated', collect)
  .option('--off <rule>', 'do not use this rule; may be repeated', collect)
  .option('--allow <value>', 'a value, or a /pattern/, that is no secret; may be repeated', collect)
  .option('--save', 'keep these rules in reelay.config.yaml, for all that is recorded in this folder')
  .option('--email', 'give e-mail addresses stand-ins too')
  .option('--json', 'print the result as JSON')
  .action(async (name: string, flags: RedactFlags) => {
    const additions = additionsIn(flags)
    if (flags.save === true) await keep(additions)
    const from = resolveTape(name)
    const changes = flags.review === true ? await reviewed(from, flags, additions) : changesBy(additions)
    await (flags.output === undefined ? scan(name, from, flags, changes) : copy(from, flags, changes))
  })

interface RedactFlags extends RuleFlags {
  readonly output?: string
  readonly review?: boolean
  readonly save?: boolean
  readonly email?: boolean
  readonly json?: boolean
}

async function scan(name: string, from: string, flags: RedactFlags, changes: RuleChanges): Promise<void> {
  const { email = false, json = false } = flags
  const reader = await openTape(from)
  const facts = await redactTape(reader, tapeRedaction(reader.header, { email, changes }), () => {})
  print(json ? asJson(facts) : `${visible(name)}: ${inWords(facts)}\n${placesOf(facts)}`)
  process.exitCode = facts.secrets === 0 ? 0 : 1
}

async function copy(from: string, flags: RedactFlags, changes: RuleChanges): Promise<void> {
  const { output: to = '', email = false, json = false } = flags
  const copied = await redactCopy({ from, to, email, changes })
  print(json ? asJson(copied) : `wrote ${visible(copied.path)}: ${inWords(copied)} replaced\n`)
}

/** The rules, and what the user says of each value that they find. */
async function reviewed(from: string, flags: RedactFlags, additions: RuleAdditions): Promise<RuleChanges> {
  if (flags.output === undefined)
    throw new ReelayError('USAGE', '--review writes a copy', { hint: 'say where to with -o <file>' })
  const reader = await openTape(from)
  const redactor = tapeRedaction(reader.header, {
    email: flags.email ?? false,
    changes: changesBy(additions),
  })
  await redactTape(reader, redactor, () => {})
  const { allowed, always } = await review(redactor.replaced)
  if (always.length > 0) await keep({ rules: [], fields: [], off: [], allow: always })
  return changesBy({ ...additions, allow: [...additions.allow, ...allowed] })
}

async function keep(additions: RuleAdditions): Promise<void> {
  process.stderr.write(`kept in ${await saveRedaction(process.cwd(), additions)}\n`)
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

export function inWords({ secrets, changed, frames, isHeaderChanged }: RedactionFacts): string {
  const where = `${changed.length} of ${frames} frames${isHeaderChanged ? ' and in the header' : ''}`
  return secrets === 0 ? 'no secrets' : `${secrets} ${secrets === 1 ? 'secret' : 'secrets'} in ${where}`
}

/** Where they are, never what they are. */
function placesOf({ changed, isHeaderChanged, secrets }: RedactionFacts): string {
  if (secrets === 0) return ''
  const places = [...(isHeaderChanged ? ['the header'] : []), ...changed.map((n) => `#${n}`)]
  const more = places.length > SHOWN ? ` and ${places.length - SHOWN} more` : ''
  return `  in ${places.slice(0, SHOWN).join(', ')}${more}\n  write a copy without them: -o <file>, or reelay share\n`
}

const SHOWN = 20

function asJson(facts: RedactionFacts): string {
  return `${JSON.stringify(facts, undefined, 2)}\n`
}
