import type { CompareRule } from './rules.ts'

/**
 * What becomes of an exchange in a protocol revision of the other era. `same`: only its envelope changes. `translated`: the other revision says
 * it in another way. `dropped`: the specification removed it, and nothing takes its place. `no equivalent`: the other revision
 * cannot say it.
 */
export type ExchangeClass = 'same' | 'translated' | 'dropped' | 'no equivalent'

/** From the least to the most serious. An exchange has the class of its most serious change. */
export const EXCHANGE_CLASSES: readonly ExchangeClass[] = ['same', 'translated', 'dropped', 'no equivalent']

/** Every rule of `reelay lint --for` and of `verify --as`. */
export const MIGRATION_RULES = {
  // From sessions to 2026-07-28.
  'era-handshake': {
    level: 'change',
    becomes: 'translated',
    title: 'initialize becomes server/discover',
    why: 'There is no handshake. Every request carries the version, the client and its capabilities in params._meta, and every result has a resultType.',
    fix: 'Answer server/discover, and read capabilities from each request. Lists and resources also need ttlMs and cacheScope.',
  },
  'era-session-id': {
    level: 'info',
    becomes: 'dropped',
    title: 'the session id and DELETE are gone',
    why: 'There are no sessions over HTTP. A server must find everything in the request, or in a handle that it returned earlier.',
    fix: 'Move state that belongs to Mcp-Session-Id into arguments, handles or requestState.',
  },
  'era-http-headers': {
    level: 'change',
    becomes: 'same',
    title: 'every POST needs Mcp-Method and Mcp-Name',
    why: 'Each POST repeats the version, the method, and the name or URI of its body in headers. A server answers -32020 if they differ.',
    fix: 'Let the SDK write and check the headers. Proxies must forward Mcp-Param-* headers.',
  },
  'era-event-stream': {
    level: 'info',
    becomes: 'dropped',
    title: 'the GET stream and resuming with Last-Event-ID are gone',
    why: 'A server can only send messages in the response to a request, or in that to subscriptions/listen.',
    fix: 'Use subscriptions/listen, and make calls that can be repeated.',
  },
  'era-batch': {
    level: 'change',
    becomes: 'translated',
    title: 'messages of a batch are sent one by one',
    why: 'Batches were removed in 2025-06-18.',
    fix: 'Send each message by itself.',
  },
  'era-ping': {
    level: 'info',
    becomes: 'dropped',
    title: 'ping is gone',
    why: 'Without sessions there is nothing to keep alive.',
    fix: 'Remove it. Any request, such as server/discover, shows that a server is there.',
  },
  'era-log-level': {
    level: 'change',
    becomes: 'translated',
    title: 'logging/setLevel becomes a log level in each request',
    why: 'Requests that want log messages have io.modelcontextprotocol/logLevel in params._meta. A server must not send any to others. Logging is deprecated.',
    fix: 'Read the level from the request, or log to stderr or OpenTelemetry instead.',
  },
  'era-log-message': {
    level: 'info',
    becomes: 'same',
    title: 'log messages are deprecated',
    why: 'notifications/message can be removed from July 2027 on, and is only sent in response to a request with a log level.',
    fix: 'Log to stderr or OpenTelemetry.',
  },
  'era-subscribe': {
    level: 'change',
    becomes: 'translated',
    title: 'resources/subscribe and unsubscribe become subscriptions/listen',
    why: 'A subscription is an open request. Updates carry its id, and closing it ends the subscription.',
    fix: 'Implement subscriptions/listen with resourceSubscriptions.',
  },
  'era-list-changed': {
    level: 'change',
    becomes: 'translated',
    title: 'a changed list is only told to subscribers',
    why: 'A server may send list_changed only to clients that have asked for it with subscriptions/listen.',
    fix: 'Send it to the open subscriptions whose filter names the list.',
  },
  'era-input-request': {
    level: 'change',
    becomes: 'translated',
    title: 'a request of the server becomes a round of input',
    why: 'Servers send no requests. A call ends with input_required, and the client sends it again with the answers.',
    fix: 'Return inputRequests, and keep what is needed for the next round in requestState: it may reach another process.',
  },
  'era-request-outside-call': {
    level: 'breaking',
    becomes: 'no equivalent',
    title: 'the server sent a request outside of a call',
    why: 'Only tools/call, prompts/get and resources/read can ask for input.',
    fix: 'Ask during the call that needs the answer, or take the answer as an argument.',
  },
  'era-input-error': {
    level: 'breaking',
    becomes: 'no equivalent',
    title: 'the client answered a request of the server with an error',
    why: 'A round of input has only results. A client that cannot answer gives up the call.',
    fix: 'Declare the capability only if the client can answer. Elicitation can be declined in a result.',
  },
  'era-roots': {
    level: 'info',
    becomes: 'same',
    title: 'roots are deprecated',
    why: 'They can be removed from July 2027 on.',
    fix: 'Take folders as arguments or from the configuration of the server.',
  },
  'era-roots-changed': {
    level: 'info',
    becomes: 'dropped',
    title: 'clients no longer tell that their roots have changed',
    why: 'Without sessions, a server asks for roots in each call that needs them.',
    fix: 'Remove it.',
  },
  'era-sampling': {
    level: 'info',
    becomes: 'same',
    title: 'sampling is deprecated',
    why: 'It can be removed from July 2027 on.',
    fix: 'Call a model from the server.',
  },
  'era-tasks': {
    level: 'change',
    becomes: 'translated',
    title: 'tasks are an extension with other messages',
    why: 'The server decides to return a task, tasks/get returns its result, and tasks/update answers its questions. There is no tasks/result and no task param.',
    fix: 'Declare the extension io.modelcontextprotocol/tasks on both sides.',
  },
  'era-task-list': {
    level: 'info',
    becomes: 'dropped',
    title: 'tasks cannot be listed',
    why: 'Without sessions, a server does not know whose tasks to list.',
    fix: 'Keep the ids of tasks in the client.',
  },
  'era-error-code': {
    level: 'change',
    becomes: 'translated',
    title: 'a missing resource is -32602 instead of -32002',
    why: '-32002 was retired.',
    fix: 'Handle both codes in clients.',
  },
  'era-url-elicitation': {
    level: 'change',
    becomes: 'translated',
    title: 'a URL that the user must open is asked for in a round of input',
    why: 'The error -32042, elicitationId and notifications/elicitation/complete are gone.',
    fix: 'Return input_required with a URL elicitation.',
  },
  'era-url-complete': {
    level: 'info',
    becomes: 'dropped',
    title: 'notifications/elicitation/complete is gone',
    why: 'The client sends the call again when the user is done.',
    fix: 'Remove it.',
  },
  'era-reserved-code': {
    level: 'breaking',
    becomes: 'no equivalent',
    title: 'an error code of the server is reserved now',
    why: 'Codes from -32020 to -32099 belong to the protocol, and clients act on them.',
    fix: 'Use a code outside of this range.',
  },
  'era-sse': {
    level: 'info',
    becomes: 'dropped',
    title: 'the HTTP+SSE transport is gone',
    why: '2026-07-28 knows stdio and Streamable HTTP.',
    fix: 'Serve Streamable HTTP.',
  },
  // From 2026-07-28 to sessions.
  'era-discover': {
    level: 'change',
    becomes: 'translated',
    title: 'server/discover becomes initialize',
    why: 'A session begins with a handshake, and later requests carry no envelope.',
    fix: 'Most SDKs do this for both sides.',
  },
  'era-input-round': {
    level: 'change',
    becomes: 'translated',
    title: 'a round of input becomes requests of the server',
    why: 'The server asks while the call is open, and the call has one result.',
    fix: 'Send the requests in the stream of the call, and wait for their responses.',
  },
  'era-retry': {
    level: 'breaking',
    becomes: 'no equivalent',
    title: 'the server asked the client to send the call again',
    why: 'A result with only a requestState has no counterpart in a session.',
    fix: 'Answer late, or with an error that says when to try again.',
  },
  'era-listen': {
    level: 'change',
    becomes: 'translated',
    title: 'subscriptions/listen becomes resources/subscribe, and changes of lists need no subscription',
    why: 'In a session a server sends them to every client.',
    fix: 'Implement resources/subscribe and unsubscribe.',
  },
  'era-request-log-level': {
    level: 'change',
    becomes: 'translated',
    title: 'the log level of a request becomes logging/setLevel',
    why: 'In a session the level holds until it is set again.',
    fix: 'Implement logging/setLevel.',
  },
  'era-task-extension': {
    level: 'change',
    becomes: 'translated',
    title: 'tasks of the extension become tasks of 2025-11-25',
    why: 'The client asks for a task with the param task, and fetches the result with tasks/result.',
    fix: 'Declare the capability tasks on both sides.',
  },
  'era-protocol-error': {
    level: 'breaking',
    becomes: 'no equivalent',
    title: 'the error exists only without sessions',
    why: '-32020, -32021 and -32022 are about the envelope and the headers, which requests of a session do not have.',
    fix: 'Nothing to do, unless a client depends on the error.',
  },
  'era-session-method': {
    level: 'breaking',
    becomes: 'no equivalent',
    title: 'the server refused a method that only sessions have',
    why: 'A server with sessions answers ping, logging/setLevel and resources/subscribe.',
    fix: 'Nothing to do, unless a client depends on the error.',
  },
  'era-structured-content': {
    level: 'breaking',
    becomes: 'no equivalent',
    title: 'structuredContent is not an object',
    why: 'Before 2026-07-28 it had to be one.',
    fix: 'Wrap the value in an object.',
  },
} as const

export type MigrationRuleId = keyof typeof MIGRATION_RULES

/** A difference between the revisions with sessions and those without. */
interface MigrationRule extends CompareRule {
  readonly becomes: ExchangeClass
}

export function migrationRule(id: MigrationRuleId): MigrationRule {
  return MIGRATION_RULES[id]
}
