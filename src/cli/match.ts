import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { COMPARISON_KINDS } from '../match/comparisons/index.ts'
import type { Comparison } from '../match/comparisons/comparison.ts'
import { parseRequestPath } from '../match/request-key.ts'
import { formatMatchRule, parseComparison, parseMatchRule, type MatchRuleScope } from '../match/rules.ts'
import {
  addStoredRules,
  removeStoredRules,
  countRequestsWithRule,
  readStoredRules,
} from '../serve/stored-rules.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape, openTape } from '../store/file/read.ts'
import { parseServerFilter, type ServerFilter } from '../tape/server-filter.ts'
import { print } from './output/print.ts'
import { createOutputRedactor } from './output/redact-output.ts'

export const matchCommand: Command = new Command('match')
  .description('keep rules beside a tape that say how requests are compared with it')
  .addCommand(
    withScopeOptions('add')
      .description('add a rule for each path')
      .argument('<path...>', 'a part of requests, such as params.arguments.date')
      .option(
        '--as <comparison>',
        `how it is compared: ${COMPARISON_KINDS.map(({ usage }) => usage).join(', ')}`,
      )
      .option('--ignore', 'do not compare it; the same as --as ignore')
      .action(add),
  )
  .addCommand(
    withTapeArgument('list')
      .description('list the rules beside a tape')
      .option('--json', 'print the list as JSON')
      .option(
        '--server <filter>',
        'the rules that hold for these servers: names with commas between, * for anything',
      )
      .action(list),
  )
  .addCommand(
    withScopeOptions('remove')
      .description('remove the rules for these paths')
      .argument('<path...>', 'a path as it stands in the rule')
      .action(remove),
  )

function withTapeArgument(name: string): Command {
  return new Command(name).argument('<tape>', 'a tape name, or a path to a tape file')
}

function withScopeOptions(name: string): Command {
  return withTapeArgument(name)
    .option('--tool <name>', 'only in calls of this tool')
    .option('--method <method>', 'only in requests of this method')
    .option('--server <name>', 'only in requests to this server')
}

interface AddFlags extends MatchRuleScope {
  readonly as?: string
  readonly ignore?: true
}

async function add(name: string, paths: readonly string[], flags: AddFlags): Promise<void> {
  const comparison = readComparison(flags)
  const tape = await loadTape(resolveTape(name))
  const rules = paths.map((path) => ({ ...readScope(flags), path: parseRequestPath(path), comparison }))
  const file = await addStoredRules(tape.path, rules)
  for (const rule of rules) {
    print(createOutputRedactor()(`${formatMatchRule(rule)}\n`))
    if (countRequestsWithRule(tape, rule) === 0)
      process.stderr.write(`reelay match: warning: no recorded request of ${name} has anything there\n`)
  }
  process.stderr.write(`reelay match: written to ${file}\n`)
}

async function list(name: string, { json, server }: { json?: true; server?: string }): Promise<void> {
  const { path: tapePath } = await openTape(resolveTape(name))
  const { path, rules: all } = await readStoredRules(tapePath)
  const rules = all.filter(appliesTo(parseServerFilter(server)))
  const shown = createOutputRedactor()
  if (json) print(shown(`${JSON.stringify({ file: path ?? null, rules }, null, 2)}\n`))
  else if (rules.length > 0) print(shown(`${rules.join('\n')}\n`))
  else if (all.length > 0) process.stderr.write(`no rule beside ${tapePath} holds for a server ${server}\n`)
  else process.stderr.write(`no rules beside ${tapePath} yet: reelay match add makes one\n`)
}

/** A rule that names no server holds for all. */
function appliesTo(isMeant: ServerFilter): (rule: string) => boolean {
  return (rule) => {
    const { server } = parseMatchRule(rule)
    return server === undefined || isMeant(server)
  }
}

async function remove(name: string, paths: readonly string[], flags: MatchRuleScope): Promise<void> {
  const { path: tapePath } = await openTape(resolveTape(name))
  const gone = await removeStoredRules(tapePath, paths.map(parseRequestPath), readScope(flags))
  if (gone.length === 0)
    throw new ReelayError('USAGE', `there is no rule for ${paths.join(', ')} beside ${tapePath}`, {
      hint: `reelay match list ${name} shows what there is`,
    })
  print(createOutputRedactor()(`${gone.map((rule) => `removed: ${rule}`).join('\n')}\n`))
}

function readComparison({ as, ignore }: AddFlags): Comparison {
  if ((as === undefined) === (ignore === undefined))
    throw new ReelayError('USAGE', 'say how the part is compared: either --as <comparison> or --ignore', {
      hint: `for example --as relative-date; reelay match add --help lists the comparisons`,
    })
  return parseComparison(as ?? 'ignore')
}

// A tool is called by one method only.
function readScope({ server, method, tool }: MatchRuleScope): MatchRuleScope {
  if (tool !== undefined && method !== undefined && method !== 'tools/call')
    throw new ReelayError('USAGE', `--tool goes with tools/call, not with ${method}`, {
      hint: 'leave out --method, or leave out --tool',
    })
  const called = tool === undefined ? method : 'tools/call'
  return {
    ...(server !== undefined && { server }),
    ...(called !== undefined && { method: called }),
    ...(tool !== undefined && { tool }),
  }
}
