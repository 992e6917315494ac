import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { withChanges, type RuleChanges } from '../redact/rule-set.ts'
import { exactly } from '../redact/written-pattern.ts'
import { findingsOf } from '../share/findings.ts'
import { openForRedaction, type RedactionWishes } from '../share/open-for-redaction.ts'
import { redactTape, type RedactionFacts } from '../share/redacted-tape.ts'
import { redactCopy } from '../share/share-tape.ts'
import { resolveTape } from '../store/home.ts'
import type { Header } from '../tape/header.ts'
import { visible } from '../wire/visible.ts'
import { print } from './print.ts'
import { review } from './review.ts'
import { onTerminal } from './terminal.ts'
import { warnOfCopied } from './vault-warning.ts'
import { addRuleFlags, ruleChanges, type RuleFlags } from './rule-flags.ts'

export const redactCommand: Command = addRuleFlags(new Command('redact'))
  .description('look for secrets on a tape (exit code 1 when there are any), or write a copy without them')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('-o, --output <file>', 'write a copy with stand-ins to this file (never over an existing one)')
  .option('--vault <file>', 'with -o: add the values that were replaced to this file, for replay --secrets')
  .option('--review', 'ask about each of them on the terminal first')
  .option('--json', 'print the result as JSON')
  .option('--server <filter>', 'these servers only: names with commas between, * for anything')
  .action(async (name: string, flags: RedactFlags) => {
    const { output, json, review: isReviewed, server, vault, ...rules } = flags
    const from = resolveTape(name)
    const asked = { changes: ruleChanges(rules), server }
    const changes = isReviewed ? await reviewed(from, asked) : asked.changes
    if (changes === undefined) return left()
    if (output === undefined && vault !== undefined) throw vaultWithoutCopy()
    if (output === undefined) return scan(name, from, { json, changes, server })
    const copied = await redactCopy({ from, to: output, changes, server, vault })
    print(json ? asJson(copied) : `wrote ${visible(copied.path)}: ${inWords(copied)} replaced\n`)
    warnOfCopied(copied)
  })

interface RedactFlags extends RuleFlags {
  readonly output?: string
  readonly review?: true
  readonly server?: string
  readonly vault?: string
  readonly json?: true
}

async function scan(
  name: string,
  from: string,
  { json, ...wishes }: RedactionWishes & { readonly json: true | undefined },
): Promise<void> {
  const { reader, redactor } = await openForRedaction(from, wishes)
  const facts = await redactTape(reader, redactor, () => {})
  const note = noteOn(reader.header, redactor.mark.key, facts)
  print(json ? asJson(facts) : `${visible(name)}: ${inWords(facts)}\n${placesOf(facts)}${note}`)
  process.exitCode = facts.secrets === 0 ? 0 : 1
}

/** The rules without what a person says is no secret; undefined when that person left. */
async function reviewed(
  from: string,
  wishes: RedactionWishes & { readonly changes: RuleChanges },
): Promise<RuleChanges | undefined> {
  const { reader, redactor } = await openForRedaction(from, wishes)
  await redactTape(reader, redactor, () => {})
  const findings = await findingsOf(reader, redactor.replaced)
  const kept = await onTerminal((ask) => review(findings, ask), {
    needs: '--review',
    instead: 'leave --review out; --allow <value> says that a value is no secret',
  })
  return kept && withChanges(wishes.changes, { allow: kept.map(exactly) })
}

function vaultWithoutCopy(): ReelayError {
  return new ReelayError('USAGE', '--vault without -o', {
    hint: 'a vault holds what a copy has stand-ins for: name the copy with -o',
  })
}

function left(): void {
  process.stderr.write('reelay redact: the review was left, and nothing was written\n')
  process.exitCode = 130
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

/** Only the key tells a stand-in from a secret. */
function noteOn({ redaction }: Header, key: string, { secrets }: RedactionFacts): string {
  if (secrets === 0 || redaction === undefined || redaction.key === key) return ''
  return `  the tape was redacted with the key ${visible(redaction.key)}, which is not here: these may be its stand-ins\n`
}

const SHOWN = 20

function asJson(facts: RedactionFacts): string {
  return `${JSON.stringify(facts, undefined, 2)}\n`
}
