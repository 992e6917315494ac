import type { Command } from 'commander'

/** The options that `replay` and `verify` share, as commander gives them. */
export interface ReplayFlags {
  readonly url?: string
  readonly sse?: true
  readonly header?: readonly string[]
  readonly server?: string
  readonly handshake?: string
  readonly timeout?: string
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
  readonly from?: string
  readonly to?: string
  readonly skipNotifications?: true
  readonly skipErrors?: true
  readonly order?: string
  readonly priority?: readonly string[]
  readonly seed?: string
  readonly pace?: string
  readonly maxConcurrent?: string
  readonly correlate: boolean
  readonly keepIds?: true
  readonly updateTimestamps?: boolean
  readonly inject?: string
  readonly injectErrors?: readonly string[]
  readonly injectSeed?: string
  readonly validate?: boolean
  readonly strict?: boolean
  readonly officialSchema?: string
  readonly ignoreField?: readonly string[]
  readonly bindings?: string
  readonly baseline?: string
  readonly ignore?: readonly string[]
  readonly unordered?: readonly string[]
  readonly tolerance?: string
  readonly slower?: string
  readonly allow?: readonly string[]
  readonly allowWrites?: true
  readonly set?: readonly string[]
  readonly secret?: readonly string[]
  readonly secrets?: string
  readonly onAsk?: string
  readonly onError?: string
  readonly retries?: string
  readonly retryDelay?: string
  readonly repeat?: string
  readonly beforeRun?: string
  /** A file, or false for none. */
  readonly config?: string | false
  readonly dryRun?: true
  readonly json?: true
  readonly output?: string
  readonly results?: string
}

/** Declares them. */
export function declareReplayOptions(command: Command): Command {
  return command
    .argument('<tape>', 'a tape name, or a path to a tape file')
    .argument('[command...]', 'after --: the command that starts the server')
    .option('--url <url>', 'a server at this URL instead of a command')
    .option(
      '--sse',
      'the URL is that of a legacy stream of events; without it that is tried when a POST is refused',
    )
    .option(
      '--header <header>',
      'a header for every request, as Name: value; ${env.NAME} is read from the environment',
      collectValue,
    )
    .option(
      '--server <filter>',
      'whose client to be, when the tape holds several servers: its name, * for anything',
    )
    .option('--handshake <own|recorded|none>', 'how the conversation is opened (own)')
    .option('--timeout <ms>', 'how long each answer may take (10000)')
    .option('--include <methods>', 'send only these, such as tools/call:search; * for anything', collectNames)
    .option('--exclude <methods>', 'do not send these', collectNames)
    .option('--from <ms>', 'leave out what was sent before this time of the tape')
    .option('--to <ms>', 'leave out what was sent after this time of the tape')
    .option('--skip-notifications', 'send requests only')
    .option('--skip-errors', 'leave out requests that were answered with an error')
    .option('--order <correlated|sequential|priority|random>', 'in which order messages go out (correlated)')
    .option('--priority <method=n>', 'with --order priority: higher goes first', collectValue)
    .option('--seed <n>', 'with --order random (1)')
    .option(
      '--pace <fast|original|stepped|x2|100ms|50rps>',
      'when messages go out (fast); stepped: each when you let it go',
    )
    .option('--max-concurrent <n>', 'how many requests may be open at once')
    .option('--no-correlate', 'send recorded ids and handles as they are')
    .option('--keep-ids', 'send the recorded ids of requests instead of fresh ones')
    .option('--update-timestamps', 'move points in time that are sent, by as long ago as they were recorded')
    .option('--no-update-timestamps', 'do not, whatever the config says')
    .option('--inject <probability>', 'let requests fail by chance, from 0 to 1; they are not sent')
    .option(
      '--inject-errors <kinds>',
      'with --inject: timeout, network-error, invalid-response (all)',
      collectNames,
    )
    .option('--inject-seed <n>', 'with --inject: the same requests fail for the same seed (42)')
    .option('--bindings <file>', 'a bindings file other than the one beside the tape')
    .option('--baseline <tape>', 'a second recording of the session: it settles bindings and shows noise')
    .option('--no-validate', 'do not compare the answers')
    .option('--validate', 'compare them, whatever the config says')
    .option('--strict', 'warnings count as errors')
    .option('--no-strict', 'they do not, whatever the config says')
    .option(
      '--official-schema <changed|always|off>',
      'which answers may not break the official schema of their revision: those that did not when recorded (changed), or all',
    )
    .option(
      '--ignore-field <names>',
      'do not compare members of these names, wherever they stand',
      collectNames,
    )
    .option(
      '--ignore <path>',
      'do not compare this part of answers, such as result.content[0].text',
      collectValue,
    )
    .option('--unordered <path>', 'a list whose order means nothing', collectValue)
    .option('--tolerance <percent>', 'how far numbers may be apart')
    .option('--slower <ms>', 'how much slower an answer may be before it counts')
    .option(
      '--allow <tools>',
      'tools that may be called though they are not marked as read-only',
      collectNames,
    )
    .option('--allow-writes', 'every tool may be called')
    .option('--secret <names>', 'variables whose values stand behind stand-ins of the tape', collectNames)
    .option('--secrets <file>', 'a vault, or a file of such values, NAME=value, that only you can read')
    .option(
      '--set <method:path=value>',
      'send another value, as in tools/call:$.arguments.q=milk',
      collectValue,
    )
    .option(
      '--on-ask <decline|fail|ask>',
      'what to answer when the server asks what was never recorded (decline)',
    )
    .option(
      '--on-error <continue|pause|stop|retry>',
      'what to do after a step that failed (continue); retry: send again what got no answer',
    )
    .option('--retries <n>', 'how often a request is sent again at most (3)')
    .option('--retry-delay <ms>', 'how long to wait before that (500)')
    .option('--before-run <command>', 'runs before each run, to put the world back as the recording found it')
    .option('--config <file>', 'a config other than the reelay.config.yaml of this folder or one above')
    .option('--no-config', 'read no config')
    .option('--dry-run', 'show what would be sent and what not, and why; nothing is started')
    .option('--json', 'print the report as JSON')
    .option('-o, --output <file>', 'write the report as JSON to this file')
    .option(
      '--results <file>',
      'write what each message brought: original_request, sent_message, response, error, duration_ms',
    )
}

function collectValue(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function collectNames(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').map((name) => name.trim())]
}
