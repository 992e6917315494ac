import { MIGRATION_RULES, type MigrationRuleId } from '../compare/migration-rules.ts'
import { COMPARE_RULES, type CompareRule, type CompareRuleId } from '../compare/rules.ts'
import { ReelayError } from '../errors.ts'
import type { StepFinding, StepState } from '../replay/steps/step.ts'
import { suggestName } from '../text.ts'

/** The rules of replay, verify, load and inspect. Those of diff and contract are in `src/compare/rules.ts`. */
const RUN_RULES = {
  'live-no-response': {
    level: 'breaking',
    title: 'the live server did not answer in time',
    why: 'On the tape the request was answered, so a client waits until it times out.',
    fix: 'Look at the stderr of the server (-v). If the server is only slow, raise --timeout.',
  },
  'live-connection-lost': {
    level: 'breaking',
    title: 'the connection ended before the response',
    why: 'The server crashed, closed the connection, or the network failed.',
    fix: 'Look at the stderr of the server (-v) and its exit code.',
  },
  'live-transport': {
    level: 'breaking',
    title: 'the response differs in how it was transported',
    why: 'The HTTP status, the headers or the stream are part of what clients see.',
    fix: 'Compare the exchange on the tape with the live one: reelay inspect <tape> <number>.',
  },
  'live-response-kind': {
    level: 'breaking',
    title: 'one of the two responses is a JSON-RPC error, or the errors differ',
    why: 'A client that handled the recorded response fails on the live one.',
    fix: 'Restore the behaviour, or accept it: reelay verify --update.',
  },
  'live-tool-error': {
    level: 'breaking',
    title: 'a tool reports an error (isError) only on the tape, or only now',
    why: 'The model is told that a call failed which succeeded before, or the reverse.',
    fix: 'Find out why the tool fails for these arguments.',
  },
  'live-output-schema': {
    level: 'breaking',
    title: 'the live result does not match the outputSchema of its tool',
    why: 'Clients reject structured results that do not match.',
    fix: 'Fix the result or the schema.',
  },
  'live-protocol-schema': {
    level: 'breaking',
    title: 'the live message does not match the schema of the protocol',
    why: 'Strict clients reject it.',
    fix: 'Fix the message. The path names the place.',
  },
  'live-value-changed': {
    level: 'breaking',
    title: 'a value in the live response differs from the tape',
    why: 'The value was the same in all runs, so it is not noise.',
    fix: 'If it is intended: reelay verify --update. If it is noise: --ignore <path>, or reelay learn with a known-good server.',
  },
  'live-value-missing': {
    level: 'breaking',
    title: 'a value on the tape is missing in the live response',
    why: 'A client or a prompt that reads it gets nothing.',
    fix: 'Restore the value, or accept the response: reelay verify --update.',
  },
  'live-value-added': {
    level: 'breaking',
    title: 'the live response has a value that is not on the tape',
    why: 'New values are usually harmless, but a recorded response is an exact promise.',
    fix: 'Accept the response: reelay verify --update.',
  },
  'live-list-order': {
    level: 'breaking',
    title: 'a list in the live response has another order',
    why: 'Clients and models read lists from the top.',
    fix: 'Sort the list in the server, or ignore its path.',
  },
  'live-newly-unstable': {
    level: 'breaking',
    title: 'a value varies from run to run, but does not in the noise profile',
    why: 'The known-good server returned the same value each time.',
    fix: 'Look for a race or a value that depends on time. If it is intended, learn the noise again: reelay learn.',
  },
  'live-message-order': {
    level: 'breaking',
    title: 'messages came in another order than on the tape',
    why: 'A client may depend on what came first.',
    fix: 'Compare the exchange with the tape: reelay inspect <tape> <number>.',
  },
  'live-notifications': {
    level: 'breaking',
    title: 'the notifications differ from those on the tape',
    why: 'Clients show progress and log messages, and reload lists when they are told to.',
    fix: 'Compare the exchange with the tape: reelay inspect <tape> <number>.',
  },
  'live-slow': {
    level: 'change',
    title: 'the live response took longer than the limit',
    why: 'Users notice, and clients have timeouts.',
    fix: 'Measure with reelay load, which is made for it.',
  },
  'live-unbound': {
    level: 'unknown',
    title: 'a message was not sent, because a value of the live server is missing',
    why: 'An earlier response did not contain the value that this message sends back.',
    fix: 'Fix the earlier difference first. reelay inspect --bindings shows where the value came from.',
  },
  'tape-error': {
    level: 'info',
    title: 'the tape contains a JSON-RPC error',
    why: 'The recorded server rejected the request.',
    fix: 'If you did not expect it, look at the exchange: reelay inspect <tape> <number>.',
  },
  'tape-tool-error': {
    level: 'info',
    title: 'the tape contains the result of a tool that failed (isError)',
    why: 'The model was told that the call failed.',
    fix: 'If you did not expect it, look at the exchange: reelay inspect <tape> <number>.',
  },
  'tape-miss': {
    level: 'info',
    title: 'the tape contains a request that a served tape could not answer',
    why: 'The client sent something that was never recorded.',
    fix: 'reelay match explains which recorded request came nearest.',
  },
  'tape-no-response': {
    level: 'info',
    title: 'the tape contains a request without a response',
    why: 'The server did not answer before the session ended, or answered with an HTTP error, or was lost, or the client cancelled the request.',
    fix: 'Record the session again if the response matters.',
  },
  'coverage-not-used': {
    level: 'info',
    title: 'no tape uses a tool, prompt or resource that the server lists',
    why: 'A change of it is found by no replay, and its contract rests on its schema alone.',
    fix: 'Record the call that the report suggests.',
  },
  'coverage-argument': {
    level: 'info',
    title: 'no tape gives an argument that the schema of a tool or the list of a prompt names',
    why: 'The server may handle it wrong, and no replay would find out.',
    fix: 'Record the call that the report suggests.',
  },
  'coverage-value': {
    level: 'info',
    title: 'no tape gives a value that a schema names, such as one of an enum',
    why: 'Servers often branch on such values.',
    fix: 'Record the call that the report suggests.',
  },
  'coverage-error-path': {
    level: 'info',
    title: 'no tape contains a call of the tool that failed',
    why: 'Error messages are read by models and users, and break as other results do.',
    fix: 'Record a call with arguments that the server rejects, as the report suggests.',
  },
  'load-objective-missed': {
    level: 'breaking',
    title: 'an objective of the load run was not met',
    why: 'The limit was set with --slo.',
    fix: 'Look at the slowest calls first. The table lists them by tool.',
  },
  'load-calls-failed': {
    level: 'change',
    title: 'calls failed under load',
    why: 'Errors under load are often timeouts, limits of connections, or races.',
    fix: 'Lower the load until they are gone. Set a limit with --slo error<0.1%.',
  },
  'load-generator-limit': {
    level: 'unknown',
    title: 'the generator was the limit, not the server',
    why: 'Reelay could not send requests on time, so the figures say little about the server.',
    fix: 'Use fewer users, or more --threads.',
  },
  'load-sessions-failed': {
    level: 'breaking',
    title: 'sessions could not be opened',
    why: 'The server refused connections or did not answer the handshake.',
    fix: 'Look at the reason, and lower the load.',
  },
  'vary-crash': {
    level: 'breaking',
    title: 'a variation of the session ends the server',
    why: 'Every session of the server ends with it, and anybody who can call the tool can do it.',
    fix: 'Run the capsule with a debugger: reelay capsule run <capsule> -- <server command>. Catch the error where the call is handled.',
  },
  'vary-hang': {
    level: 'breaking',
    title: 'a call of a varied session is never answered',
    why: 'Clients wait until they time out, and some servers answer nothing else in the meantime.',
    fix: 'Run the capsule, and look for a promise that is never settled or a lock that is never released.',
  },
  'vary-internal-error': {
    level: 'breaking',
    title: 'the server answers a varied session with an internal error',
    why: 'Error -32603 and messages such as "Cannot read properties of undefined" mean that the server did not expect the call. A model cannot act on them.',
    fix: 'Check the arguments and the state first, and answer with -32602, or with isError and a message that says what to do.',
  },
  'vary-leak': {
    level: 'breaking',
    title: 'a response contains a stack trace or a path of the server',
    why: 'It tells an attacker how the server is built and where it runs, and the model can do nothing with it.',
    fix: 'Log the error on the server, and answer with a message of your own.',
  },
  'vary-schema': {
    level: 'breaking',
    title: 'a response of a varied session breaks the outputSchema of its tool or the schema of the protocol',
    why: 'Strict clients reject it.',
    fix: 'Fix the result, or the schema if it promises too much.',
  },
  'isolation-leak': {
    level: 'breaking',
    title: 'a value of one session shows up in another session',
    why: 'Two users of the same server see data of each other.',
    fix: 'Keep state by session instead of in global variables, and check who owns what an id names. If all sessions share this data on purpose: --shared <tool>.',
  },
  'probe-path-traversal': {
    level: 'breaking',
    title: 'a path in an argument makes the server return a file that it does not offer',
    why: 'Whoever controls the arguments, such as a web page that a model reads, can read files of the machine.',
    fix: 'Resolve the path, follow its links, and compare it with the folders that the server offers.',
  },
  'probe-ssrf': {
    level: 'breaking',
    title: 'a URL in an argument makes the server send a request to its own machine',
    why: 'Services that trust this machine, and the metadata service of a cloud, can be reached through the server.',
    fix: 'Resolve the host first, and refuse loopback, private and link-local addresses, also after redirects.',
  },
  'probe-injection': {
    level: 'change',
    title: 'a result repeats an order to a model from an argument',
    why: 'A model that reads the result may follow it. Most tools have no reason to repeat what they were given.',
    fix: 'Leave the argument out of messages, or quote it as data.',
  },
  'probe-dns-rebinding': {
    level: 'breaking',
    title: 'a local HTTP server answers requests with the Host or Origin of another site',
    why: 'Any web page that the user opens can call the tools of the server.',
    fix: 'Compare Host and Origin with the names that the server is reached by, and answer others with 403.',
  },
  'probe-session-fixation': {
    level: 'breaking',
    title: 'the server accepts a session id that it has not issued',
    why: 'An attacker who chooses the id of a session can use it together with the victim.',
    fix: 'Create every id with a secure random generator, and answer unknown ones with 404.',
  },
  'probe-unauthenticated': {
    level: 'breaking',
    title: 'the server answers without the token that the user sends',
    why: 'The token protects nothing.',
    fix: 'Check it in every request, and answer with 401.',
  },
  'vary-protocol': {
    level: 'breaking',
    title: 'a varied session makes the server break the protocol',
    why: 'A message that is not JSON-RPC, or a response that belongs to no request, ends the session in some clients.',
    fix: 'Answer each request once, with its id. Let the server log to stderr.',
  },
} as const

type RunRuleId = keyof typeof RUN_RULES

/** A rule id never changes its meaning. */
export type RuleId = CompareRuleId | MigrationRuleId | RunRuleId

/** Every rule. The page docs/reference/rules.md and `reelay explain` are made from it. */
export const RULES: Readonly<Record<RuleId, CompareRule>> = {
  ...COMPARE_RULES,
  ...MIGRATION_RULES,
  ...RUN_RULES,
}

/** Throws if there is no such rule, with a suggestion. */
export function findRule(name: string): RuleId {
  const id = name.trim().toLowerCase()
  if (isRuleId(id)) return id
  throw new ReelayError(
    'USAGE',
    `there is no rule ${JSON.stringify(name)}${suggestName(id, Object.keys(RULES))}`,
    { hint: '`reelay explain` without a rule lists all of them' },
  )
}

function isRuleId(name: string): name is RuleId {
  return Object.hasOwn(RULES, name)
}

/** The rule of a finding of replay or verify. */
export function ruleOfStepFinding(found: StepFinding, state: StepState): RunRuleId {
  if (found.isNewlyUnstable) return 'live-newly-unstable'
  switch (found.layer) {
    case 'transport':
      return state === 'timeout'
        ? 'live-no-response'
        : state === 'lost'
          ? 'live-connection-lost'
          : 'live-transport'
    case 'json-rpc':
      return 'live-response-kind'
    case 'is-error':
      return 'live-tool-error'
    case 'schema':
      return found.source === 'outputSchema' ? 'live-output-schema' : 'live-protocol-schema'
    case 'values':
      return ruleOfValues(found)
    case 'order':
      return 'live-message-order'
    case 'notifications':
      return 'live-notifications'
    case 'timing':
      return 'live-slow'
  }
}

function ruleOfValues({ difference, expected, actual }: StepFinding): RunRuleId {
  const kind = difference?.kind
  if (kind === 'order') return 'live-list-order'
  if (kind === 'removed' || (kind === undefined && expected !== undefined && actual === undefined))
    return 'live-value-missing'
  if (kind === 'added' || (kind === undefined && expected === undefined && actual !== undefined))
    return 'live-value-added'
  return 'live-value-changed'
}
