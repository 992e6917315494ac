import type { CommandDefinition } from './command.ts'
import { RECORD_OPTIONS } from './options/record-options.ts'

/** A command of the program. Its module is loaded only if the command is used, so that every command and `--help` start fast. */
export interface CommandEntry {
  readonly name: string
  readonly help: string
  /** Commands that can be pasted, with names of one's own. */
  readonly examples: readonly string[]
  readonly load: () => Promise<CommandDefinition> | CommandDefinition
}

/** Every command, by the headings of `reelay --help`. */
export const COMMANDS: Readonly<Record<string, readonly CommandEntry[]>> = {
  Record: [
    {
      name: 'record',
      help: 'Record a session between an MCP client and a server to a tape',
      examples: [
        'reelay record my-tape -- npx -y @acme/server',
        'reelay record my-tape --url https://example.com/mcp',
      ],
      load: () => recordCommand,
    },
    {
      name: 'intercept',
      help: 'Decide about the messages that `record --intercept` holds: forward, edit, drop or answer',
      examples: [
        "reelay record my-tape --intercept 'tool:search' -- node server.js",
        'reelay intercept my-tape',
      ],
      load: async () => (await import('./ui/intercept.ts')).interceptCommand,
    },
    {
      name: 'call',
      help: 'Call a tool of a server, without a client; without a tool, list the tools',
      examples: [
        'reelay call -- node server.js',
        'reelay call search query=tea limit=5 --record my-tape -- node server.js',
      ],
      load: async () => (await import('./scenario/call.ts')).callCommand,
    },
    {
      name: 'scenario',
      help: 'Run a file of tool calls and expectations against a live server',
      examples: ['reelay scenario run search.scenario.yaml --record my-tape -- node server.js'],
      load: async () => (await import('./scenario/scenario.ts')).scenarioCommand,
    },
    {
      name: 'propose',
      help: 'Draft a scenario by calling the read-only tools of a server twice',
      examples: ['reelay propose -o search.scenario.yaml -- node server.js'],
      load: async () => (await import('./scenario/scenario.ts')).proposeCommand,
    },
    {
      name: 'run',
      help: 'Run a program and record or replay the MCP servers that it uses',
      examples: [
        'reelay run --record my-tape -- node agent.js',
        'reelay run --replay my-tape -- python agent.py',
      ],
      load: async () => (await import('./run.ts')).runCommand,
    },
    {
      name: 'test',
      help: 'Run tests in any language: record their MCP servers once, replay them afterwards',
      examples: ['reelay test run -- pytest', 'reelay test run --tape agent -- go test ./...'],
      load: async () => (await import('./run.ts')).testCommand,
    },
    {
      name: 'wrap',
      help: 'Change the configs of MCP clients so that servers are recorded',
      examples: ['reelay wrap --all --dry-run', 'reelay wrap weather --file mcp.json'],
      load: async () => (await import('./setup/wrap.ts')).wrapCommand,
    },
    {
      name: 'unwrap',
      help: 'Restore the original configs of wrapped servers',
      examples: ['reelay unwrap --all', 'reelay unwrap weather --file mcp.json'],
      load: async () => (await import('./setup/wrap.ts')).unwrapCommand,
    },
    {
      name: 'doctor',
      help: 'List the wrapped servers of each client and report problems',
      examples: ['reelay doctor'],
      load: async () => (await import('./setup/doctor.ts')).doctorCommand,
    },
    {
      name: 'ca',
      help: 'Create, show or remove the local CA that lets `record --forward` read HTTPS',
      examples: ['reelay ca create', 'reelay ca show'],
      load: async () => (await import('./setup/ca.ts')).caCommand,
    },
    {
      name: 'trust',
      help: 'Allow Reelay to run the code of a project config in JavaScript or TypeScript',
      examples: ['reelay trust reelay.config.ts'],
      load: async () => (await import('./setup/trust.ts')).trustCommand,
    },
  ],
  Inspect: [
    {
      name: 'inspect',
      help: 'Show the contents of a tape: connections, exchanges, errors, stderr and misses',
      examples: [
        'reelay inspect my-tape',
        'reelay inspect my-tape -v',
        "reelay inspect my-tape --filter 'tool:search status:error'",
      ],
      load: async () => (await import('./inspect/inspect.ts')).inspectCommand,
    },
    {
      name: 'stats',
      help: 'Show call counts, errors and latency for each method and tool, of one tape or of many',
      examples: ['reelay stats my-tape', 'reelay stats --since 7d'],
      load: async () => (await import('./inspect/stats.ts')).statsCommand,
    },
    {
      name: 'tail',
      help: 'Follow a tape while it is being recorded',
      examples: ['reelay tail my-tape'],
      load: async () => (await import('./inspect/tail.ts')).tailCommand,
    },
    {
      name: 'list',
      help: 'List the tapes in the tape folder',
      examples: ['reelay list'],
      load: async () => (await import('./inspect/list.ts')).listCommand,
    },
    {
      name: 'search',
      help: 'Find exchanges in many tapes',
      examples: ["reelay search 'tool:search status:error'", 'reelay search \'"rate limit"\' --since 7d'],
      load: async () => (await import('./inspect/search.ts')).searchCommand,
    },
    {
      name: 'validate',
      help: 'Check whether tapes can be read to their end, and repair them',
      examples: ['reelay validate', 'reelay validate broken.tape.jsonl --fix'],
      load: async () => (await import('./inspect/library.ts')).validateCommand,
    },
    {
      name: 'merge',
      help: 'Put several tapes together, with --deduplicate without equal exchanges',
      examples: ['reelay merge monday tuesday -o week --deduplicate'],
      load: async () => (await import('./inspect/library.ts')).mergeCommand,
    },
    {
      name: 'rm',
      help: 'Delete tapes',
      examples: ['reelay rm hello'],
      load: async () => (await import('./inspect/library.ts')).removeCommand,
    },
    {
      name: 'prune',
      help: 'Delete old tapes in the tape folder',
      examples: ['reelay prune --before 30d', 'reelay prune --before 30d --keep 20 --yes'],
      load: async () => (await import('./inspect/library.ts')).pruneCommand,
    },
  ],
  Serve: [
    {
      name: 'serve',
      help: 'Serve a tape as an MCP server over stdio or HTTP',
      examples: [
        'reelay serve my-tape',
        'reelay serve my-tape --http 8080',
        'reelay serve my-tape --faults faults.yaml',
      ],
      load: async () => (await import('./serve/serve.ts')).serveCommand,
    },
    {
      name: 'match',
      help: 'Manage the matching rules stored next to a tape',
      examples: ['reelay match add my-tape params.arguments.date --as ignore', 'reelay match list my-tape'],
      load: async () => (await import('./match.ts')).matchCommand,
    },
    {
      name: 'faults',
      help: 'List the faults that serve and replay can inject, and their presets',
      examples: ['reelay faults', 'reelay serve my-tape --faults faults.yaml'],
      load: async () => (await import('./serve/faults.ts')).faultsCommand,
    },
  ],
  Replay: [
    {
      name: 'replay',
      help: 'Send the recorded requests to a live server and compare the responses',
      examples: [
        'reelay replay my-tape -- node server.js',
        "reelay replay my-tape --set 'tools/call:$.arguments.n=2' -- node server.js",
      ],
      load: async () => (await import('./replay/replay.ts')).replayCommand,
    },
    {
      name: 'verify',
      help: 'Check that a live server still responds as recorded (exit code 1 if not)',
      examples: [
        'reelay verify my-tape -- node server.js',
        'reelay verify my-tape --allow add_todo -- node server.js',
        'reelay verify my-tape --url http://127.0.0.1:3000/mcp',
      ],
      load: async () => (await import('./replay/verify.ts')).verifyCommand,
    },
    {
      name: 'debug',
      help: 'Step through a tape against a live server: breakpoints, step back, change and repeat messages',
      examples: ["reelay debug my-tape --break 'tool:search' -- node server.js"],
      load: async () => (await import('./debug/debug.ts')).debugCommand,
    },
    {
      name: 'dap',
      help: 'Debug a tape from your editor, over the Debug Adapter Protocol',
      examples: ['reelay dap my-tape -- node server.js'],
      load: async () => (await import('./dap/dap.ts')).dapCommand,
    },
    {
      name: 'learn',
      help: 'Learn what varies in the responses of a known-good server, for reelay verify',
      examples: ['reelay learn my-tape -- node server.js'],
      load: async () => (await import('./replay/learn.ts')).learnCommand,
    },
    {
      name: 'noise',
      help: 'Review the noise profile next to a tape',
      examples: ['reelay noise show my-tape'],
      load: async () => (await import('./noise.ts')).noiseCommand,
    },
    {
      name: 'bisect',
      help: 'Find the git revision of a server that changed its responses',
      examples: ["reelay bisect my-tape v1.2 HEAD --setup 'npm ci' -- node server.js"],
      load: async () => (await import('./replay/bisect.ts')).bisectCommand,
    },
    {
      name: 'shrink',
      help: 'Reduce a failing session to its minimum, and write it as a capsule',
      examples: [
        'reelay shrink my-tape --fails is-error -- node server.js',
        "reelay shrink my-tape --fails 'result.total > 100' -- node server.js",
        "reelay shrink my-tape --fails 'command: npm test'",
      ],
      load: async () => (await import('./shrink/shrink.ts')).shrinkCommand,
    },
    {
      name: 'vary',
      help: 'Look for bugs with variations of a session: repeated, dropped and odd calls (exit code 1)',
      examples: [
        'reelay vary my-tape -- node server.js',
        'reelay vary my-tape --for 5m --allow-writes -- node server.js',
      ],
      load: async () => (await import('./shrink/vary.ts')).varyCommand,
    },
    {
      name: 'isolate',
      help: 'Play a session twice at once, and look for values of one in the other (exit code 1)',
      examples: [
        'reelay isolate my-tape --url http://127.0.0.1:3000/mcp',
        'reelay isolate my-tape --allow-writes -- node server.js',
        "reelay isolate my-tape --url http://localhost:3000 --other-header 'X-User: b'",
      ],
      load: async () => (await import('./shrink/isolate.ts')).isolateCommand,
    },
    {
      name: 'capsule',
      help: 'Run, show or open the capsule of a failing session',
      examples: ['reelay capsule run bug.capsule.html -- node server.js'],
      load: async () => (await import('./shrink/capsule.ts')).capsuleCommand,
    },
  ],
  Compare: [
    {
      name: 'diff',
      help: 'Show what changed between two tapes, and what breaks clients (exit code 1)',
      examples: [
        'reelay diff before-tape after-tape',
        'reelay diff before-tape after-tape --report markdown',
      ],
      load: async () => (await import('./compare/diff.ts')).diffCommand,
    },
    {
      name: 'diff-batch',
      help: 'Compare the tapes of two folders, or several pairs of tapes',
      examples: ['reelay diff-batch before-folder after-folder'],
      load: async () => (await import('./compare/diff.ts')).diffBatchCommand,
    },
    {
      name: 'contract',
      help: 'Keep what servers offer in a file, and check tapes and live servers against it',
      examples: [
        'reelay contract make my-tape -o tools.contract.yaml',
        'reelay contract check tools.contract.yaml -- node server.js',
      ],
      load: async () => (await import('./compare/contract.ts')).contractCommand,
    },
    {
      name: 'coverage',
      help: 'Show which tools, arguments, values and errors of a server the tapes exercise, and calls for the rest',
      examples: ['reelay coverage my-tape', 'reelay coverage tapes/*.tape.jsonl --fail-under 80'],
      load: async () => (await import('./compare/coverage.ts')).coverageCommand,
    },
    {
      name: 'lint',
      help: 'Make a checklist for moving to a protocol version of the other era, from a tape alone',
      examples: ['reelay lint my-tape --for 2026-07-28', 'reelay lint my-tape --report sarif=lint.sarif'],
      load: async () => (await import('./compare/lint.ts')).lintCommand,
    },
    {
      name: 'explain',
      help: 'Explain a rule that a finding names',
      examples: ['reelay explain', 'reelay explain success-to-error'],
      load: async () => (await import('./compare/explain.ts')).explainCommand,
    },
  ],
  'Load and chaos': [
    {
      name: 'load',
      help: 'Play recorded sessions as many users at once and measure response times',
      examples: [
        'reelay load my-tape --users 10 --for 30s -- node server.js',
        'reelay load my-tape --rate 5/s --for 1m --url http://127.0.0.1:3000/mcp',
      ],
      load: async () => (await import('./load.ts')).loadCommand,
    },
    {
      name: 'worker',
      help: 'Play parts of the load of `reelay load --workers` on this machine',
      examples: [
        'reelay worker redis://10.0.0.5 --target-allowed staging.example.com',
        'reelay worker redis://10.0.0.5 --once -- node server.js',
      ],
      load: async () => (await import('./worker.ts')).workerCommand,
    },
    {
      name: 'chaos',
      help: 'Inject faults between a client and a live server, or try every fault at every call of a client',
      examples: [
        'reelay chaos --faults flaky -- node server.js',
        'reelay chaos my-tape --every -- node client.js {url}',
      ],
      load: async () => (await import('./chaos.ts')).chaosCommand,
    },
  ],
  'Share and import': [
    {
      name: 'redact',
      help: 'Find secrets on a tape (exit code 1 if there are any), or write a copy without them',
      examples: ['reelay redact my-tape', 'reelay redact my-tape -o clean.tape.jsonl'],
      load: async () => (await import('./copy/redact.ts')).redactCommand,
    },
    {
      name: 'share',
      help: 'Write a copy of a tape that is safe to share, after checking that it contains no known secrets and still replays',
      examples: ['reelay share my-tape -o bug-report.tape.jsonl'],
      load: async () => (await import('./copy/share.ts')).shareCommand,
    },
    {
      name: 'import',
      help: 'Convert a recording from another tool to a tape',
      examples: ['reelay import session.jsonl'],
      load: async () => (await import('./copy/import.ts')).importCommand,
    },
    {
      name: 'export',
      help: 'Write a tape in the format of another tool: tests, scripts, HAR, collections, traces',
      examples: [
        'reelay export my-tape --format vitest -o my-tape.test.mjs',
        'reelay export my-tape -o my-tape.har',
      ],
      load: async () => (await import('./copy/export.ts')).exportCommand,
    },
    {
      name: 'convert',
      help: 'Convert a recording from one format to another',
      examples: ['reelay convert session.vcr session.har'],
      load: async () => (await import('./copy/export.ts')).convertCommand,
    },
    {
      name: 'edit',
      help: 'Edit a tape as YAML in your editor, and write the result to a new tape',
      examples: ['reelay edit my-tape'],
      load: async () => (await import('./copy/edit.ts')).editCommand,
    },
  ],
  'Get started': [
    {
      name: 'demo',
      help: 'Watch a session being recorded and served, without any configuration',
      examples: ['reelay demo', 'reelay record my-tape -- reelay demo --server'],
      load: async () => (await import('./demo.ts')).demoCommand,
    },
    {
      name: 'init',
      help: 'Set up a project: config, .gitattributes, an example test and a CI workflow',
      examples: ['reelay init'],
      load: async () => (await import('./setup/init.ts')).initCommand,
    },
    {
      name: 'completion',
      help: 'Print a script that completes commands, options, tapes and tools in your shell',
      examples: ['reelay completion bash'],
      load: async () => (await import('./setup/completion.ts')).completionCommand(loadCommands),
    },
  ],
}

/** Loads the module of every command. */
export async function loadCommands(): Promise<readonly CommandDefinition[]> {
  const entries = Object.values(COMMANDS).flat()
  return Promise.all(entries.map(async ({ help, load }) => ({ ...(await load()), help })))
}

/** Only the help of `record`: `main` runs the command before commander is loaded. */
const recordCommand: CommandDefinition = {
  name: 'record',
  usage:
    '[options] [<name>] -- <server command…>\n' +
    '       reelay record [options] --url <url> [<name>]\n' +
    '       reelay record [options] --bridge --url <url> [<name>]\n' +
    '       reelay record [options] --forward [<name>] [-- <client command…>]',
  options: RECORD_OPTIONS,
  common: ['url', 'forward', 'header', 'output', 'server', 'redact', 'tail', 'quiet'],
  notes:
    'Without -o or a name, the tape is named after the server and the time.\nNamed tapes are in $REELAY_HOME/tapes.',
}
