import { readFile } from 'node:fs/promises'
import { errorMessage, ReelayError } from '../../errors.ts'
import { parseRuleFile } from '../../faults/request-rules.ts'
import { proposeScenario, type Proposal } from '../../scenario/propose.ts'
import { readScenario, runScenario, type Scenario, type StepResult } from '../../scenario/scenario.ts'
import { writeOwnFile } from '../../store/file/replace-file.ts'
import { requireNewFile } from '../../store/file/write.ts'
import { escapeControlChars, quoteShellWord } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { splitServerCommand } from '../options/live-options.ts'
import { option, usageError } from '../options/option.ts'
import { fileValue } from '../options/option-types.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { fetchListedTools, LIVE_CALL_OPTIONS, withLiveClient, type LiveCallFlags } from './call.ts'

interface ScenarioFlags extends LiveCallFlags {
  readonly json?: true
}

const runScenarioCommand = defineCommand<ScenarioFlags>({
  name: 'run',
  parent: 'scenario',
  help: 'Call the tools of a scenario file one by one, and check the results (exit code 1 if one differs)',
  usage: '[options] <file> -- <server command…>\n       reelay scenario run [options] --url <url> <file>',
  arguments: { '[words...]': 'Scenario file, then -- and the command that starts the server' },
  options: { json: jsonOption, ...LIVE_CALL_OPTIONS },
  run: async (given, flags) => {
    const { words, command } = splitServerCommand(given)
    const [file, ...more] = words
    if (file === undefined || more.length > 0)
      throw usageError(
        'scenario run needs one scenario file',
        'reelay scenario run search.scenario.yaml -- node server.js',
      )
    const scenario = await readScenarioFile(file)
    const results = await withLiveClient(command, flags, async (client) => {
      await fetchListedTools(client) // so that the tape says which tools only read
      const steps: StepResult[] = []
      for await (const step of runScenario(client, scenario)) {
        steps.push(step)
        if (flags.json === undefined) print(stepText(step))
      }
      return steps
    })
    const failed = results.filter(({ problems }) => problems.length > 0).length
    if (failed > 0) process.exitCode = 1
    if (flags.json)
      print(`${createOutputRedactor()(JSON.stringify({ failed, steps: results }, undefined, 2))}\n`)
    else print(`${results.length - failed} of ${results.length} calls as expected\n`)
  },
})

async function readScenarioFile(file: string): Promise<Scenario> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new ReelayError('USAGE', `the scenario ${file} cannot be read: ${errorMessage(cause)}`, {
      hint: 'reelay propose -o <file> -- <server command…> makes a first one',
      cause,
    })
  })
  return readScenario((await parseRuleFile(text, file)).value, file)
}

function stepText({ step, call, duration, problems }: StepResult): string {
  const shown = createOutputRedactor()
  const mark = problems.length === 0 ? 'ok' : 'failed'
  const lines = problems.map((problem) => `      ${escapeControlChars(shown(problem))}\n`)
  return `${String(step).padStart(3)}  ${mark.padEnd(6)}  ${escapeControlChars(call)}  ${duration.toFixed(0)} ms\n${lines.join('')}`
}

export const scenarioCommand: CommandDefinition = {
  name: 'scenario',
  options: {},
  commands: [runScenarioCommand],
}

interface ProposeFlags extends ScenarioFlags {
  readonly output?: string
}

export const proposeCommand: CommandDefinition = defineCommand<ProposeFlags>({
  name: 'propose',
  usage: '[options] -- <server command…>\n       reelay propose [options] --url <url>',
  arguments: { '[words...]': 'After --, the command that starts the server' },
  options: {
    output: option('-o, --output', fileValue, 'Write the scenario to this file instead of stdout'),
    json: jsonOption,
    ...LIVE_CALL_OPTIONS,
  },
  run: async (given, flags) => {
    const { words, command } = splitServerCommand(given)
    if (words.length > 0)
      throw usageError(`propose takes no argument ${words[0]}`, 'put the server command after --')
    const { output } = flags
    if (output !== undefined) requireNewFile(output)
    const proposal = await withLiveClient(command, flags, async (client) =>
      proposeScenario(client, await fetchListedTools(client)),
    )
    const shown = createOutputRedactor()
    if (flags.json) return print(`${shown(JSON.stringify(proposal, undefined, 2))}\n`)
    const text = shown(await scenarioText(proposal))
    if (output === undefined) return print(text)
    await writeOwnFile(output, [text])
    const server =
      command.length > 0 ? `-- ${command.map(quoteShellWord).join(' ')}` : `--url ${flags.url?.href}`
    process.stderr.write(
      `reelay propose: ${proposal.steps.length} calls, ${proposal.skipped.length} tools not called; written to ${output}\n` +
        `reelay: next, reelay scenario run ${quoteShellWord(output)} --record <tape> ${shown(server)}\n`,
    )
  },
})

/** The scenario as YAML. What varied and what was not called are comments. */
async function scenarioText({ steps, skipped }: Proposal): Promise<string> {
  const { Document, isMap } = await import('yaml')
  const document = new Document({
    steps: steps.map(({ call, args, expect }) => ({
      call,
      args,
      ...(Object.keys(expect).length > 0 && { expect }),
    })),
  })
  for (const [at, { varying }] of steps.entries()) {
    const node = document.getIn(['steps', at], true)
    if (varying.length > 0 && isMap(node))
      node.comment = ` differs from call to call: ${escapeControlChars(varying.join(', '))}`
  }
  const notCalled = skipped.map(
    ({ tool, why }) => `#   ${escapeControlChars(tool)}: ${escapeControlChars(why)}\n`,
  )
  const head = '# Calls of read-only tools, and what was equal in two calls. Change it as you like.\n'
  return `${head}${String(document)}${notCalled.length > 0 ? `# Not called:\n${notCalled.join('')}` : ''}`
}
