import { resolve } from 'node:path'
import { requireNewFile } from '../../store/file/write.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { announceConfig, CONFIG_OPTIONS, type ConfigFlags } from '../options/config-options.ts'
import { option } from '../options/option.ts'
import { fileValue, switchOn } from '../options/option-types.ts'
import { TAPE_ARGUMENT, jsonOption, serverFilter, vaultOption } from '../options/shared-options.ts'
import { REDACTION_OPTIONS, readRuleChanges, type RedactionFlags } from '../options/redact-options.ts'
import { print } from '../output/print.ts'
import { withTerminal, type AskQuestion } from '../output/terminal.ts'
import { warnAboutCopyVault } from '../record/record-output.ts'
import { mergeRuleChanges, type RedactionRuleChanges, exactPattern } from '../../redact/rule-set.ts'
import { findSecretOccurrences, type SecretOccurrence } from '../../share/find-secrets.ts'
import {
  openTapeForRedaction,
  type TapeRedactionOptions,
  writeRedactedTape,
  type TapeRedactionSummary,
} from '../../share/redact-tape.ts'
import { copyTapeRedacted } from '../../share/share-tape.ts'
import { resolveTape } from '../../store/home.ts'
import type { TapeHeader } from '../../tape/header.ts'
import { escapeControlChars } from '../../text.ts'
import { showTapeReading } from '../output/progress.ts'

interface RedactFlags extends RedactionFlags, ConfigFlags {
  readonly output?: string
  readonly vault?: string
  readonly server?: string
  readonly review?: true
  readonly json?: true
}

export const redactCommand: CommandDefinition = defineCommand<RedactFlags>({
  name: 'redact',
  arguments: TAPE_ARGUMENT,
  options: {
    output: option(
      '-o, --output',
      fileValue,
      'Write a copy with placeholders to this file; an existing file is never overwritten',
    ),
    server: serverFilter('Look only at these servers'),
    ...REDACTION_OPTIONS,
    vault: { ...vaultOption, needs: { output: true } },
    ...CONFIG_OPTIONS,
    review: option('--review', switchOn, 'Ask about each secret at the terminal first'),
    json: jsonOption,
  },
  run: async ([name = ''], { output, json, review, server, vault, ...rules }) => {
    showTapeReading()
    announceConfig(rules, 'refuse')
    const from = resolveTape(name)
    if (output !== undefined) requireNewFile(resolve(output))
    const given = readRuleChanges(rules)
    const changes = review ? await reviewRules(from, { changes: given, server }) : given
    if (changes === undefined) return reportCancelledReview()
    if (output === undefined) return scanTape(name, from, { json, changes, server })
    const copied = await copyTapeRedacted({ from, to: output, changes, server, vault })
    print(
      json
        ? factsJson(copied)
        : `wrote ${escapeControlChars(copied.path)}: ${redactionSummary(copied)} replaced\n${allowanceNote(copied)}`,
    )
    warnAboutCopyVault(copied)
  },
})

async function scanTape(
  name: string,
  from: string,
  { json, ...options }: TapeRedactionOptions & { readonly json: true | undefined },
): Promise<void> {
  const opened = await openTapeForRedaction(from, options)
  const { reader, redactor } = opened
  const facts = await writeRedactedTape(opened, () => {})
  const note = unknownKeyNote(reader.header, redactor.identity.key, facts)
  print(
    json
      ? factsJson(facts)
      : `${escapeControlChars(name)}: ${redactionSummary(facts)}\n${placesOf(facts)}${allowanceNote(facts)}${note}`,
  )
  process.exitCode = facts.secrets === 0 ? 0 : 1
}

/** Asks the user about each secret and returns the changed rules, or `undefined` if the user quit. */
async function reviewRules(
  from: string,
  options: TapeRedactionOptions & { readonly changes: RedactionRuleChanges },
): Promise<RedactionRuleChanges | undefined> {
  const opened = await openTapeForRedaction(from, options)
  const { reader, redactor } = opened
  await writeRedactedTape(opened, () => {})
  const findings = await findSecretOccurrences(reader, redactor.replacedValues)
  const kept = await withTerminal((ask) => reviewSecrets(findings, ask), {
    needs: '--review',
    instead: 'leave --review out; --allow <value> marks a value as not secret',
  })
  return kept && mergeRuleChanges(options.changes, { allow: kept.map(exactPattern) })
}

function reportCancelledReview(): void {
  process.stderr.write('reelay redact: the review was cancelled, and nothing was written\n')
  process.exitCode = 130
}

export function redactionSummary({
  secrets,
  changed,
  frames,
  isHeaderChanged,
}: TapeRedactionSummary): string {
  const where = `${changed.length} of ${frames} frames${isHeaderChanged ? ' and in the header' : ''}`
  return secrets === 0 ? 'no secrets' : `${secrets} ${secrets === 1 ? 'secret' : 'secrets'} in ${where}`
}

/** The config of the project may come from others, so it cannot decide what is safe to share. */
export function allowanceNote({ projectAllows }: TapeRedactionSummary): string {
  if (projectAllows === undefined) return ''
  const { values, off } = projectAllows
  const parts = [
    ...(values === 0 ? [] : [`allows ${values} of these values`]),
    ...(off.length === 0 ? [] : [`turns off ${off.join(', ')}`]),
  ]
  return `  the project's config ${parts.join(' and ')}, which does not count here; to keep a value, use --allow or --off\n`
}

/** Lists the places of secrets, never the values. */
function placesOf({ changed, isHeaderChanged, secrets }: TapeRedactionSummary): string {
  if (secrets === 0) return ''
  const places = [...(isHeaderChanged ? ['the header'] : []), ...changed.map((n) => `frame ${n}`)]
  const more = places.length > MAX_SCAN_PLACES ? ` and ${places.length - MAX_SCAN_PLACES} more` : ''
  return `  in ${places.slice(0, MAX_SCAN_PLACES).join(', ')}${more}\n  write a copy without them: -o <file>, or reelay share\n`
}

/** A placeholder cannot be distinguished from a secret without its key. */
function unknownKeyNote({ redaction }: TapeHeader, key: string, { secrets }: TapeRedactionSummary): string {
  if (secrets === 0 || redaction === undefined || redaction.key === key) return ''
  return `  the tape was redacted with the key ${escapeControlChars(redaction.key)}, which is not on this machine: these may be its placeholders\n`
}

const MAX_SCAN_PLACES = 20

function factsJson(facts: TapeRedactionSummary): string {
  return `${JSON.stringify(facts, undefined, 2)}\n`
}

/** Asks about each value whether it is a secret. Returns the values that are not, or `undefined` if the user quit. */
export async function reviewSecrets(
  findings: readonly SecretOccurrence[],
  ask: AskQuestion,
): Promise<readonly string[] | undefined> {
  const kept: string[] = []
  for (const [place, finding] of findings.entries()) {
    const answer = await askAboutSecret(finding, `${place + 1} of ${findings.length}`, ask)
    if (answer === 'quit') return undefined
    if (answer === 'all') return kept
    if (answer === 'no') kept.push(finding.value)
  }
  return kept
}

type ReviewAnswer = 'yes' | 'no' | 'all' | 'quit'

async function askAboutSecret(
  { value, frames }: SecretOccurrence,
  place: string,
  ask: AskQuestion,
): Promise<ReviewAnswer> {
  let shown = masked(value)
  for (;;) {
    const reply = await ask(
      `${place}: ${shown}, ${framesText(frames)}\n  a secret? [Y]es, no, show, all, quit: `,
    )
    const word = (reply ?? 'quit').trim().toLowerCase()
    const answer = ANSWERS.find((one) => one.startsWith(word === '' ? 'y' : word))
    if (answer !== undefined) return answer
    if (word !== '' && 'show'.startsWith(word)) shown = escapeControlChars(value)
  }
}

const ANSWERS: readonly ReviewAnswer[] = ['yes', 'no', 'all', 'quit']

/** Shows enough to recognise a known value. */
function masked(value: string): string {
  const ends = value.length < 12 ? `${value.slice(0, 1)}…` : `${value.slice(0, 3)}…${value.slice(-2)}`
  return `${escapeControlChars(ends)} (${value.length} characters)`
}

function framesText(frames: readonly number[]): string {
  const names = frames.slice(0, MAX_REVIEW_PLACES).map((n) => (n === 0 ? 'the header' : `frame ${n}`))
  const more = frames.length > MAX_REVIEW_PLACES ? ` and ${frames.length - MAX_REVIEW_PLACES} more` : ''
  return names.length === 0 ? 'cut off at the end of a frame' : `in ${names.join(', ')}${more}`
}

const MAX_REVIEW_PLACES = 5
