import { Command } from 'commander'
import { redactTape, type RedactionFacts } from '../share/redacted-tape.ts'
import { redactCopy } from '../share/share-tape.ts'
import { tapeRedaction } from '../share/tape-redaction.ts'
import { resolveTape } from '../store/home.ts'
import { openTape } from '../store/read.ts'
import { visible } from '../wire/visible.ts'
import { print } from './print.ts'

export const redactCommand: Command = new Command('redact')
  .description('look for secrets on a tape (exit code 1 when there are any), or write a copy without them')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('-o, --output <file>', 'write a copy with stand-ins to this file (never over an existing one)')
  .option('--email', 'give e-mail addresses stand-ins too')
  .option('--json', 'print the result as JSON')
  .action(async (name: string, { output, email = false, json = false }: RedactFlags) => {
    const from = resolveTape(name)
    if (output !== undefined) {
      const copied = await redactCopy({ from, to: output, email })
      return print(json ? asJson(copied) : `wrote ${visible(copied.path)}: ${inWords(copied)} replaced\n`)
    }
    const reader = await openTape(from)
    const facts = await redactTape(reader, tapeRedaction(reader.header, { email }), () => {})
    print(json ? asJson(facts) : `${visible(name)}: ${inWords(facts)}\n${placesOf(facts)}`)
    process.exitCode = facts.secrets === 0 ? 0 : 1
  })

interface RedactFlags {
  readonly output?: string
  readonly email?: boolean
  readonly json?: boolean
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
