import { defineCommand, type CommandDefinition } from './command.ts'
import { option, usageError, type OptionTable } from './options/option.ts'
import { textValue } from './options/option-types.ts'
import { TAPE_ARGUMENT, jsonOption, serverFilter } from './options/shared-options.ts'
import { COMPARISON_KINDS } from '../match/comparisons/index.ts'
import type { Comparison } from '../match/comparisons/comparison.ts'
import { parseRequestPath } from '../match/request-key.ts'
import { formatMatchRule, parseComparison, parseMatchRule, type MatchRuleScope } from '../match/rules.ts'
import { turnStoreOf } from '../tape/turns.ts'
import {
  unmatchedRules,
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

interface AddFlags extends MatchRuleScope {
  readonly as?: string
}

const SCOPE_OPTIONS: OptionTable<MatchRuleScope> = {
  tool: option('--tool <name>', textValue, 'Apply only to calls of this tool'),
  method: option('--method <method>', textValue, 'Apply only to requests of this method'),
  server: option('--server <name>', textValue, 'Apply only to requests to this server'),
}

export const matchCommand: CommandDefinition = {
  name: 'match',
  options: {},
  commands: [
    defineCommand<AddFlags>({
      parent: 'match',
      name: 'add',
      help: 'Add a rule for each path',
      arguments: { ...TAPE_ARGUMENT, '<path...>': 'Path in a request, e.g. params.arguments.date' },
      options: {
        as: option(
          '--as <comparison>',
          textValue,
          `Compare the value in this way (required): ${COMPARISON_KINDS.map(({ usage }) => usage).join(', ')}`,
        ),
        ...SCOPE_OPTIONS,
      },
      run: ([tape = '', ...paths], flags) => add(tape, paths, flags),
    }),
    defineCommand<{ json?: true; server?: string }>({
      parent: 'match',
      name: 'list',
      help: 'List the rules stored next to a tape',
      arguments: TAPE_ARGUMENT,
      options: { server: serverFilter('Show only rules that apply to these servers'), json: jsonOption },
      run: ([tape = ''], flags) => list(tape, flags),
    }),
    defineCommand<MatchRuleScope>({
      parent: 'match',
      name: 'remove',
      help: 'Remove the rules for these paths',
      arguments: {
        ...TAPE_ARGUMENT,
        '<path...>': 'Path of the rules to remove, as shown by reelay match list',
      },
      options: SCOPE_OPTIONS,
      run: ([tape = '', ...paths], flags) => remove(tape, paths, flags),
    }),
  ],
}

async function add(name: string, paths: readonly string[], flags: AddFlags): Promise<void> {
  const comparison = readComparison(flags)
  const tape = await loadTape(resolveTape(name))
  const rules = paths.map((path) => ({ ...readScope(flags), path: parseRequestPath(path), comparison }))
  const file = await addStoredRules(tape.path, rules)
  for (const rule of rules) {
    print(createOutputRedactor()(`${formatMatchRule(rule)}\n`))
    if (countRequestsWithRule(tape, rule) === 0)
      process.stderr.write(
        `reelay match: warning: ${unmatchedRules(turnStoreOf(tape.turns), { rules: [formatMatchRule(rule)] })
          .join('')
          .replace(/^--rule /, '')}\n`,
      )
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
  else if (all.length > 0) process.stderr.write(`no rule beside ${tapePath} applies to a server ${server}\n`)
  else process.stderr.write(`no rules beside ${tapePath} yet: add one with reelay match add\n`)
}

/** A rule without a server applies to all of them. */
function appliesTo(isSelected: ServerFilter): (rule: string) => boolean {
  return (rule) => {
    const { server } = parseMatchRule(rule)
    return server === undefined || isSelected(server)
  }
}

async function remove(name: string, paths: readonly string[], flags: MatchRuleScope): Promise<void> {
  const { path: tapePath } = await openTape(resolveTape(name))
  const removed = await removeStoredRules(tapePath, paths.map(parseRequestPath), readScope(flags))
  if (removed.length === 0)
    throw usageError(
      `there is no rule for ${paths.join(', ')} beside ${tapePath}`,
      `reelay match list ${name} shows the rules`,
    )
  print(createOutputRedactor()(`${removed.map((rule) => `removed: ${rule}`).join('\n')}\n`))
}

function readComparison({ as }: AddFlags): Comparison {
  if (as !== undefined) return parseComparison(as)
  throw usageError(
    '--as <comparison> is required',
    'for example --as relative-date; reelay match add --help lists the comparisons',
  )
}

/** A rule for a tool applies to `tools/call`, the only method that calls one. */
function readScope({ server, method, tool }: MatchRuleScope): MatchRuleScope {
  if (tool !== undefined && method !== undefined && method !== 'tools/call')
    throw usageError(
      `--tool cannot be used together with --method ${method}`,
      'leave out --method, or leave out --tool',
    )
  const called = tool === undefined ? method : 'tools/call'
  return {
    ...(server !== undefined && { server }),
    ...(called !== undefined && { method: called }),
    ...(tool !== undefined && { tool }),
  }
}
