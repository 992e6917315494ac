import { existsSync, readFileSync } from 'node:fs'
import { checkContract, withAccepted, type ContractCheck } from '../../compare/check-contract.ts'
import {
  contractFromTapes,
  contractText,
  readContract,
  serversOnTape,
  writeContract,
  type Contract,
  type ContractServer,
} from '../../compare/contract-file.ts'
import { liveSurface } from '../../compare/live-surface.ts'
import { resolveTape } from '../../store/home.ts'
import { quoteShellWord } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { LIVE_SERVER_OPTIONS, type LiveServerFlags } from '../options/live-options.ts'
import { option, usageError, type OptionRow } from '../options/option.ts'
import { durationValue, fileValue, switchOn, textValue } from '../options/option-types.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { ReportOutput, reportOptions, type ReportFlags } from '../output/reports.ts'
import { readReplayTarget } from '../replay/replay-target.ts'
import { abortOnSignals } from '../signals.ts'

interface TargetFlags extends LiveServerFlags {
  readonly timeout?: number
}

interface CheckFlags extends TargetFlags, ReportFlags {
  readonly strict?: true
  readonly update?: true
  readonly json?: true
}

const timeoutOption: OptionRow<number> = option(
  '--timeout',
  durationValue('ms', 1),
  'Wait this long for each response of a live server',
  { default: '30s' },
)
const TARGET_OPTIONS = { ...LIVE_SERVER_OPTIONS, timeout: timeoutOption }
const TARGET_ARGUMENTS = {
  '<contract>': 'Contract file',
  '[target...]': 'Tape, or after -- the command that starts the server',
} as const

const makeCommand = defineCommand<{ output?: string }>({
  name: 'make',
  help: 'Make a contract from tapes: what the servers offer, and what was recorded with their tools',
  arguments: { '<tapes...>': 'Tape names, or paths of tape files' },
  options: { output: option('-o, --output', fileValue, 'Write the contract to this file instead of stdout') },
  run: async (tapes, { output }) => {
    if (output !== undefined) requireNewContract(output)
    const contract = await contractFromTapes(tapes.map((tape) => resolveTape(tape)))
    const redact = createOutputRedactor()
    for (const [name, { surface, recorded }] of contract.servers)
      if (surface.tools === undefined) process.stderr.write(`${toolsNotListed(name, [...recorded.keys()])}\n`)
    if (output === undefined) return print(await contractText(contract, redact))
    await writeContract(output, contract, redact)
    process.stderr.write(`reelay contract: written to ${output}\n`)
  },
})

function toolsNotListed(server: string, called: readonly string[]): string {
  const missing = called.length === 0 ? 'no tools' : `nothing about ${called.join(', ')}`
  return [
    `reelay contract: no tape lists the tools of ${server}, so the contract contains ${missing}`,
    '  hint: record a session that lists them: reelay call --record <name> -- <server command>',
  ].join('\n')
}

/** A contract may contain accepted findings, which would be lost. */
function requireNewContract(file: string): void {
  if (!existsSync(file)) return
  throw usageError(
    `${file} exists`,
    `to renew it, use reelay contract check ${quoteShellWord(file)} <tape> --update; otherwise choose another file, or remove that one first`,
  )
}

const checkCommand = defineCommand<CheckFlags>({
  name: 'check',
  help: 'Check a tape or a live server against a contract (exit code 1 if something breaks)',
  usage:
    '[options] <contract> <tape>\n       reelay contract check [options] <contract> -- <server command…>\n       reelay contract check [options] <contract> --url <url>',
  arguments: TARGET_ARGUMENTS,
  options: {
    strict: option('--strict', switchOn, 'Fail on what could not be decided, too'),
    update: option(
      '--update',
      switchOn,
      'Write what the target offers into the contract, which accepts all findings',
    ),
    ...reportOptions('contract'),
    json: jsonOption,
    ...TARGET_OPTIONS,
  },
  run: async ([file = '', ...target], flags) => {
    const output = new ReportOutput('contract', flags)
    const contract = readContract(file)
    const now = await serversOf(target, flags, contract)
    const check = checkContract(contract, now.servers, { contract: file, target: now.name })
    await output.write(check, { command: 'contract check', lineOf: linesOfSubjects(file) })
    if (flags.update) await update(file, contract, now.servers)
    process.exitCode = flags.update || !hasFailed(check, flags) ? 0 : 1
  },
})

function hasFailed({ summary }: ContractCheck, { strict }: CheckFlags): boolean {
  const { breaking, security, unknown } = summary
  return breaking + security + (strict ? unknown : 0) > 0
}

/** The new surface takes the place of the earlier one. Recorded calls stay if nothing new was recorded. */
async function update(
  file: string,
  contract: Contract,
  now: ReadonlyMap<string, ContractServer>,
): Promise<void> {
  const servers = new Map(contract.servers)
  for (const [name, server] of now) {
    const key = servers.has(name) || servers.size !== 1 ? name : ([...servers.keys()][0] ?? name)
    const recorded = server.recorded.size > 0 ? server.recorded : (servers.get(key)?.recorded ?? new Map())
    servers.set(key, { surface: server.surface, recorded })
  }
  await writeContract(
    file,
    { ...contract, made: new Date().toISOString(), servers, accepted: [] },
    createOutputRedactor(),
  )
  process.stderr.write(`reelay contract: ${file} was updated\n`)
}

const acceptCommand = defineCommand<{ reason?: string } & TargetFlags>({
  name: 'accept',
  help: 'Accept single findings of check by their fingerprints, with a reason',
  usage:
    '[options] --reason <text> <contract> <fingerprint>\n                              (<tape> | -- <server command…>)',
  arguments: {
    '<contract>': 'Contract file',
    '<fingerprint>': 'Fingerprint of the finding, which check prints; several are separated by commas',
    '[target...]': 'Tape, or after -- the command that starts the server',
  },
  options: {
    reason: option('--reason <text>', textValue, 'Say in the contract why the finding is accepted'),
    ...TARGET_OPTIONS,
  },
  run: async ([file = '', fingerprints = '', ...target], { reason, ...flags }) => {
    if (reason === undefined || reason.trim() === '')
      throw usageError('accept needs a reason', 'add --reason "why it is harmless"')
    const contract = readContract(file)
    const now = await serversOf(target, flags, contract)
    const { findings } = checkContract(contract, now.servers, { contract: file, target: now.name })
    const wanted = fingerprints.split(',')
    const chosen = wanted.map((fingerprint) => {
      const found = findings.find(
        (each) => each.fingerprint?.startsWith(fingerprint) && fingerprint.length >= 6,
      )
      if (found === undefined)
        throw usageError(
          `no finding has the fingerprint ${fingerprint}`,
          'reelay contract check prints the fingerprints',
        )
      return found
    })
    await writeContract(file, withAccepted(contract, chosen, reason), createOutputRedactor())
    process.stderr.write(`reelay contract: ${chosen.length} accepted in ${file}\n`)
  },
})

const lockCommand = defineCommand<{ update?: true; json?: true } & TargetFlags & ReportFlags>({
  name: 'lock',
  help: 'Pin what a server offers in a file, and fail if anything in it changes later',
  usage:
    '[options] <file> <tape>\n       reelay contract lock [options] <file> -- <server command…>\n       reelay contract lock [options] <file> --url <url>',
  arguments: TARGET_ARGUMENTS,
  options: {
    update: option('--update', switchOn, 'Pin what the server offers now, after you have reviewed it'),
    ...reportOptions('contract'),
    json: jsonOption,
    ...TARGET_OPTIONS,
  },
  run: async ([file = '', ...target], flags) => {
    const output = new ReportOutput('contract', flags)
    const known = existsSync(file) ? readContract(file) : undefined
    const now = await serversOf(target, flags, known)
    const pinned: Contract = {
      made: new Date().toISOString(),
      from: [now.name],
      servers: new Map(
        Array.from(now.servers, ([name, { surface }]) => [name, { surface, recorded: new Map() }]),
      ),
      accepted: [],
    }
    if (known === undefined) {
      await writeContract(file, pinned, createOutputRedactor())
      process.stderr.write(`reelay contract: what the server offers is pinned in ${file}\n`)
      return
    }
    const check = checkContract(known, now.servers, { contract: file, target: now.name })
    await output.write(check, { command: 'contract lock', lineOf: linesOfSubjects(file) })
    if (flags.update) await writeContract(file, pinned, createOutputRedactor())
    const isChanged = check.findings.some(({ accepted }) => accepted === undefined)
    process.exitCode = isChanged && !flags.update ? 1 : 0
  },
})

/** Finds the line of a tool, prompt or resource in a contract, so that a code host can show the finding there. */
function linesOfSubjects(file: string): (subject: string) => number | undefined {
  let lines: readonly string[] | undefined
  return (subject) => {
    lines ??= readFileSync(file, 'utf8').split('\n')
    const name = subject.slice(subject.lastIndexOf(' ') + 1)
    const at = lines.findIndex((line) => {
      const key = line.trim().replace(/^- /, '')
      return [`${name}:`, `"${name}":`, `'${name}':`, `name: ${name}`, `name: "${name}"`].some((start) =>
        key.startsWith(start),
      )
    })
    return at < 0 ? undefined : at + 1
  }
}

interface CheckedServers {
  readonly name: string
  readonly servers: ReadonlyMap<string, ContractServer>
}

/** What a tape or a live server offers. A command has at least one argument after `--`, so a single word is a tape. */
async function serversOf(
  target: readonly string[],
  { url, header, timeout = 30_000 }: TargetFlags,
  contract?: Contract,
): Promise<CheckedServers> {
  const [tape, ...rest] = target
  const isTape = url === undefined && tape !== undefined && rest.length === 0 && !process.argv.includes('--')
  if (isTape) return { name: tape, servers: await serversOnTape(resolveTape(tape)) }
  const live = readReplayTarget(target, { ...(url && { url }), ...(header && { header }) })
  const [asker] = [...(contract?.servers.values() ?? [])].map(({ surface: { client } }) => client)
  const surface = await liveSurface(live, { timeout, signal: abortOnSignals(), ...(asker && { asker }) })
  return { name: live.name, servers: new Map([['server', { surface, recorded: new Map() }]]) }
}

export const contractCommand: CommandDefinition = {
  name: 'contract',
  options: {},
  commands: [makeCommand, checkCommand, acceptCommand, lockCommand],
}
