/**
 * How much a finding matters. `breaking`: a client that worked can fail. `security`: the model or the user may be misled, or a promise about
 * what a tool does was withdrawn. `unknown`: it could not be decided. `change`: different, but not known to break anybody. `addition`:
 * something new. `info`: worth knowing.
 */
export type FindingLevel = 'breaking' | 'security' | 'unknown' | 'change' | 'addition' | 'info'

/** One kind of finding. Ids never change their meaning: people write them into configs and accept findings by them. */
export interface CompareRule {
  readonly level: FindingLevel
  /** What was found, as a sentence without a subject: `the tool is gone`. */
  readonly title: string
  /** Why it matters. */
  readonly why: string
  /** What to do about it. */
  readonly fix: string
}

/** Every rule of `reelay diff` and `reelay contract`. The page docs/reference/rules.md and `reelay explain` are made from it. */
export const COMPARE_RULES = {
  // Exchanges of two tapes.
  'call-removed': {
    level: 'breaking',
    title: 'a call was recorded before and has no counterpart now',
    why: 'The same driver made the call on the earlier tape. It may have stopped because the server no longer offers what it needs.',
    fix: 'If the driver has changed, record both tapes with the same driver. Otherwise find out why the call was not made.',
  },
  'poll-removed': {
    level: 'info',
    title: 'a request that may be repeated at will was sent less often',
    why: 'Pings, handshakes and polls of a task depend on timing, and lists may have fewer pages. What lists contain is compared with all pages together.',
    fix: 'Nothing to do.',
  },
  'call-added': {
    level: 'addition',
    title: 'a call has no counterpart on the earlier tape',
    why: 'The driver makes more calls. Nobody who worked before is affected.',
    fix: 'Nothing to do.',
  },
  'request-changed': {
    level: 'change',
    title: 'the call was made with other params',
    why: 'The responses belong to different requests, so differences between them can have their cause in the request.',
    fix: 'Record both tapes with the same driver if you want to compare the server alone.',
  },
  'success-to-error': {
    level: 'breaking',
    title: 'a request that succeeded now gets a JSON-RPC error',
    why: 'A client that sends this request fails.',
    fix: 'Restore the behaviour, or document that the request is no longer valid.',
  },
  'error-to-success': {
    level: 'change',
    title: 'a request that got a JSON-RPC error now succeeds',
    why: 'Usually an improvement. A client that relied on the error is rare.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'tool-error-appeared': {
    level: 'breaking',
    title: 'a tool that succeeded now reports an error (isError)',
    why: 'The model is told that the call failed.',
    fix: 'Find out why the tool fails for these arguments.',
  },
  'tool-error-gone': {
    level: 'change',
    title: 'a tool that reported an error (isError) now succeeds',
    why: 'Usually an improvement.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'response-lost': {
    level: 'breaking',
    title: 'a request that was answered now gets no response',
    why: 'The client waits until it times out.',
    fix: 'Check whether the server crashed or was stopped during the recording.',
  },
  'response-appeared': {
    level: 'change',
    title: 'a request that got no response is now answered',
    why: 'Usually an improvement, or the earlier recording was stopped early.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'tool-error-to-error': {
    level: 'breaking',
    title: 'a call that failed with isError now fails with a JSON-RPC error',
    why: 'Clients throw JSON-RPC errors. A client that only handles results with isError stops.',
    fix: 'Return a result with isError, as before.',
  },
  'error-form-changed': {
    level: 'change',
    title: 'a call that failed with a JSON-RPC error now fails with isError',
    why: 'Clients throw JSON-RPC errors, and show results with isError to the model.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'error-code-changed': {
    level: 'breaking',
    title: 'a JSON-RPC error has another code',
    why: 'Clients decide by the code whether to retry, to ask the user or to give up.',
    fix: 'Keep the code, or tell the users of the server.',
  },
  'error-changed': {
    level: 'change',
    title: 'a JSON-RPC error has another message or other data',
    why: 'Messages are for people. Programs should not depend on them.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'result-field-removed': {
    level: 'breaking',
    title: 'a field of a result is gone',
    why: 'A client or a prompt that reads the field gets nothing.',
    fix: 'Keep the field for at least one release, or declare it as optional in the outputSchema first.',
  },
  'optional-field-absent': {
    level: 'change',
    title: 'an optional field of a result is absent',
    why: 'The outputSchema, or other results on the earlier tape, show that the field may be absent.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'result-field-added': {
    level: 'addition',
    title: 'a result has a new field',
    why: 'Clients ignore fields that they do not know.',
    fix: 'Nothing to do.',
  },
  'result-item-removed': {
    level: 'change',
    title: 'a list in a result has fewer items',
    why: 'The data may have changed, or the server leaves something out.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'result-item-added': {
    level: 'addition',
    title: 'a list in a result has a new item',
    why: 'The data may have changed.',
    fix: 'Nothing to do.',
  },
  'result-type-changed': {
    level: 'breaking',
    title: 'a value in a result has another type',
    why: 'A client that reads the value fails or misreads it.',
    fix: 'Return the earlier type, or put the new value into a new field.',
  },
  'result-value-changed': {
    level: 'change',
    title: 'a value in a result has changed',
    why: 'The data may have changed, or the server computes it in another way.',
    fix: 'If the value differs in every run, learn it as noise: reelay learn.',
  },
  'result-order-changed': {
    level: 'info',
    title: 'the items of a list come in another order',
    why: 'Few clients depend on the order. A model may prefer the first item.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'result-format-lost': {
    level: 'breaking',
    title: 'a structured text, such as JSON, can no longer be parsed',
    why: 'A client that parses the text fails.',
    fix: 'Return the text in its earlier format.',
  },
  'content-kind-changed': {
    level: 'breaking',
    title: 'a content block has another kind, such as image instead of text',
    why: 'A client that reads the text of the block finds none.',
    fix: 'Return the earlier kind, or add a block instead of replacing one.',
  },
  'server-request-added': {
    level: 'breaking',
    title: 'the server now asks the client something during the call',
    why: 'A client without the capability (sampling, elicitation, roots) cannot answer.',
    fix: 'Ask only clients that have declared the capability, and offer a way without the question.',
  },
  'server-request-removed': {
    level: 'change',
    title: 'the server no longer asks the client during the call',
    why: 'If it was a confirmation, the call now happens without one.',
    fix: 'Check that nothing is done without the consent that was asked for earlier.',
  },
  'notifications-changed': {
    level: 'info',
    title: 'the server sends other notifications during the call',
    why: 'Progress and log messages differ from run to run.',
    fix: 'Nothing to do.',
  },
  'latency-increased': {
    level: 'change',
    title: 'a call takes clearly longer',
    why: 'Users wait, and clients may run into their timeouts.',
    fix: 'Record both tapes again on a quiet machine. If the difference stays, profile the call.',
  },
  'latency-decreased': {
    level: 'info',
    title: 'a call is clearly faster',
    why: 'Good news, or the call does less than before.',
    fix: 'Nothing to do.',
  },

  // What a server offers.
  'tool-removed': {
    level: 'breaking',
    title: 'the tool is gone',
    why: 'Calls of the tool fail.',
    fix: 'Keep the tool, and mark it as deprecated in its description.',
  },
  'tool-renamed': {
    level: 'breaking',
    title: 'the tool has another name',
    why: 'Calls by the earlier name fail. Allow-lists and prompts name the tool.',
    fix: 'Keep the earlier name as an alias.',
  },
  'tool-added': {
    level: 'addition',
    title: 'there is a new tool',
    why: 'Clients see one more tool.',
    fix: 'Nothing to do.',
  },
  'prompt-removed': {
    level: 'breaking',
    title: 'the prompt is gone',
    why: 'Clients that offer the prompt fail when it is used.',
    fix: 'Keep the prompt.',
  },
  'prompt-renamed': {
    level: 'breaking',
    title: 'the prompt has another name',
    why: 'Requests by the earlier name fail.',
    fix: 'Keep the earlier name as an alias.',
  },
  'prompt-added': {
    level: 'addition',
    title: 'there is a new prompt',
    why: 'Clients see one more prompt.',
    fix: 'Nothing to do.',
  },
  'prompt-argument-required': {
    level: 'breaking',
    title: 'a prompt has a new required argument, or an argument became required',
    why: 'Requests without the argument fail.',
    fix: 'Make the argument optional.',
  },
  'prompt-argument-removed': {
    level: 'breaking',
    title: 'an argument of a prompt is gone',
    why: 'A server that checks its arguments rejects the request. Others ignore what the user entered.',
    fix: 'Keep accepting what the earlier version accepted, at least for one release.',
  },
  'prompt-argument-added': {
    level: 'addition',
    title: 'a prompt has a new optional argument',
    why: 'Requests without it stay valid.',
    fix: 'Nothing to do.',
  },
  'resource-removed': {
    level: 'breaking',
    title: 'the resource is gone',
    why: 'Reading its URI fails.',
    fix: 'Keep the URI.',
  },
  'resource-renamed': {
    level: 'breaking',
    title: 'the resource has another URI',
    why: 'Reading the earlier URI fails.',
    fix: 'Keep the earlier URI.',
  },
  'resource-added': {
    level: 'addition',
    title: 'there is a new resource',
    why: 'Clients see one more resource.',
    fix: 'Nothing to do.',
  },
  'resource-type-changed': {
    level: 'breaking',
    title: 'a resource has another MIME type',
    why: 'Clients choose by the type how to read the content.',
    fix: 'Keep the type, or offer the new one under another URI.',
  },
  'template-removed': {
    level: 'breaking',
    title: 'the resource template is gone',
    why: 'URIs that were made from it fail.',
    fix: 'Keep the template.',
  },
  'template-added': {
    level: 'addition',
    title: 'there is a new resource template',
    why: 'Clients see one more template.',
    fix: 'Nothing to do.',
  },
  'recorded-call-rejected': {
    level: 'breaking',
    title: 'recorded calls are invalid by the new inputSchema',
    why: 'These calls were really made, and a server that checks its input rejects them.',
    fix: 'Keep accepting what the earlier version accepted, at least for one release.',
  },
  'input-argument-required': {
    level: 'breaking',
    title: 'an argument is new and required, or became required',
    why: 'Calls without the argument are rejected.',
    fix: 'Make the argument optional with a default.',
  },
  'input-type-narrowed': {
    level: 'breaking',
    title: 'an argument accepts fewer types',
    why: 'Calls with the earlier type are rejected.',
    fix: 'Keep accepting what the earlier version accepted, at least for one release.',
  },
  'input-enum-narrowed': {
    level: 'breaking',
    title: 'an argument accepts fewer fixed values',
    why: 'Calls with a value that is gone are rejected.',
    fix: 'Keep accepting what the earlier version accepted, at least for one release.',
  },
  'input-bound-tightened': {
    level: 'breaking',
    title: 'a limit of an argument (a bound, a length or a count) is tighter',
    why: 'Calls near the earlier limit are rejected.',
    fix: 'Keep accepting what the earlier version accepted, at least for one release.',
  },
  'input-pattern-changed': {
    level: 'breaking',
    title: 'an argument has to match another pattern or format',
    why: 'Texts that were accepted are rejected.',
    fix: 'Keep accepting what the earlier version accepted, at least for one release.',
  },
  'input-closed': {
    level: 'breaking',
    title: 'arguments that were accepted by any name are rejected now',
    why: 'Calls with an argument that is no longer known are rejected.',
    fix: 'Leave additionalProperties open, or keep the names that are in use.',
  },
  'input-narrowed': {
    level: 'breaking',
    title: 'the inputSchema rejects calls that it accepted',
    why: 'The witness is valid by the earlier schema and invalid by the new one.',
    fix: 'Keep accepting what the earlier version accepted, at least for one release.',
  },
  'input-widened': {
    level: 'info',
    title: 'the inputSchema accepts everything that it accepted, and more or the same in other words',
    why: 'It is proven that no valid call became invalid.',
    fix: 'Nothing to do.',
  },
  'input-unknown': {
    level: 'unknown',
    title: 'it is not known whether the inputSchema still accepts all earlier calls',
    why: 'No call was found that breaks, and no proof that none exists. The finding names the place that stopped the proof.',
    fix: 'Look at that place. Accept the finding with a reason if it is harmless.',
  },
  'input-argument-added': {
    level: 'addition',
    title: 'there is a new optional argument',
    why: 'Calls without it stay valid. If the arguments were open, a call that already sent the name with another type breaks, which is a change.',
    fix: 'Nothing to do.',
  },
  'input-argument-removed': {
    level: 'breaking',
    title: 'an argument is gone',
    why: 'A server that rejects unknown arguments rejects the call. Others ignore what was sent.',
    fix: 'Keep the argument, and mark it as deprecated in its description.',
  },
  'input-default-changed': {
    level: 'change',
    title: 'an argument has another default',
    why: 'Calls without the argument stay valid and do something else.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'recorded-result-rejected': {
    level: 'breaking',
    title: 'recorded results are invalid by the new outputSchema',
    why: 'The results that clients know are no longer what the server promises.',
    fix: 'Check that the server really returns what the new schema says, and tell the users of the server.',
  },
  'output-field-lost': {
    level: 'breaking',
    title: 'a field that results always had is no longer promised',
    why: 'A client that reads the field can get nothing.',
    fix: 'Keep the field as required.',
  },
  'output-type-widened': {
    level: 'breaking',
    title: 'a field of the result can have a new type',
    why: 'A client that expects the earlier type fails.',
    fix: 'Put the new type into a new field.',
  },
  'output-enum-widened': {
    level: 'breaking',
    title: 'a field of the result can have new fixed values',
    why: 'A client that handles all earlier values meets one that it does not know.',
    fix: 'Tell the users of the server. In the next contract, declare the field as an open text.',
  },
  'output-widened': {
    level: 'breaking',
    title: 'the outputSchema allows results that it did not allow',
    why: 'The witness is valid by the new schema and invalid by the earlier one.',
    fix: 'Keep the earlier promise, or put new content into new fields.',
  },
  'output-field-added': {
    level: 'change',
    title: 'a result can have a new field, which the earlier outputSchema excluded',
    why: 'Most clients ignore fields that they do not know. One that checks results by the earlier schema rejects them.',
    fix: 'Nothing to do, unless a client keeps its own copy of the schema.',
  },
  'output-narrowed': {
    level: 'info',
    title: 'the outputSchema promises at least as much as before',
    why: 'It is proven that every result by the new schema is one by the earlier schema.',
    fix: 'Nothing to do.',
  },
  'output-unknown': {
    level: 'unknown',
    title: 'it is not known whether results stay within the earlier outputSchema',
    why: 'No result was found that breaks, and no proof that none exists. The finding names the place that stopped the proof.',
    fix: 'Look at that place. Accept the finding with a reason if it is harmless.',
  },
  'output-schema-removed': {
    level: 'breaking',
    title: 'the tool no longer declares an outputSchema',
    why: 'Nothing is promised about its results any more, and clients may not get structured content.',
    fix: 'Keep the outputSchema.',
  },
  'output-schema-added': {
    level: 'addition',
    title: 'the tool now declares an outputSchema',
    why: 'Clients can rely on the shape of its results.',
    fix: 'Nothing to do.',
  },
  'observed-field-lost': {
    level: 'breaking',
    title: 'a field that was in every recorded result is missing',
    why: 'It was never declared, but every result had it.',
    fix: 'Return the field again.',
  },
  'observed-type-changed': {
    level: 'breaking',
    title: 'a field of the results has a type that no recorded result had',
    why: 'It was never declared, but every result had the other type.',
    fix: 'Return the earlier type, or put the new value into a new field.',
  },
  'annotation-read-only-lost': {
    level: 'security',
    title: 'the tool no longer says that it only reads',
    why: 'Clients run read-only tools without asking the user.',
    fix: 'Check what the tool writes, and ask the users again.',
  },
  'annotation-destructive-added': {
    level: 'security',
    title: 'the tool may now destroy data',
    why: 'It said, or the default said, that it does not.',
    fix: 'Check what the tool does, and ask the users again.',
  },
  'annotation-idempotent-lost': {
    level: 'change',
    title: 'the tool can no longer be repeated without effect',
    why: 'Clients retry idempotent calls.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'annotation-open-world-added': {
    level: 'security',
    title: 'the tool may now reach systems outside',
    why: 'Data of the session can leave it.',
    fix: 'Check which systems the tool talks to.',
  },
  'annotation-changed': {
    level: 'info',
    title: 'an annotation has changed and promises no less than before',
    why: 'Clients show annotations, and choose by them whether to ask.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'description-wording': {
    level: 'info',
    title: 'a description or title is worded differently',
    why: 'A model may choose other tools because of it.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'description-instruction': {
    level: 'security',
    title: 'a description gained an instruction to the model',
    why: 'A description that tells the model what to do besides calling the tool is how poisoned tools work (OWASP MCP03).',
    fix: 'Read the added text. Do not accept it unless you know who wrote it and why.',
  },
  'description-address': {
    level: 'security',
    title: 'a description gained a URL, a host or an e-mail address',
    why: 'A model may be led to send data there.',
    fix: 'Check who owns the address.',
  },
  'description-path': {
    level: 'security',
    title: 'a description gained a path of a private file, or names a secret',
    why: 'A model may be led to read it and pass it on.',
    fix: 'Read the added text. A tool that needs no secret should not name one.',
  },
  'description-hidden-characters': {
    level: 'security',
    title: 'a description gained characters that people do not see',
    why: 'Invisible, bidirectional and tag characters hide text from reviewers, but not from the model.',
    fix: 'Do not accept it.',
  },
  'description-other-tool': {
    level: 'security',
    title: 'a description gained a reference to another tool',
    why: 'A tool that says how another tool is to be used can shadow it.',
    fix: 'Read the added text. It is harmless if both tools belong together.',
  },
  'description-encoded-text': {
    level: 'security',
    title: 'a description gained a long encoded text',
    why: 'Base64, hexadecimal or escaped text hides its content from reviewers.',
    fix: 'Decode and read it.',
  },
  'instructions-removed': {
    level: 'change',
    title: 'the server no longer sends instructions',
    why: 'A model may use its tools in another way.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'ui-changed': {
    level: 'security',
    title: 'the tool shows another UI resource',
    why: 'The resource is a page that runs in the client.',
    fix: 'Review the new page.',
  },
  'meta-changed': {
    level: 'info',
    title: 'other metadata (icons, _meta, task support) has changed',
    why: 'Most clients do not use it.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'capability-removed': {
    level: 'breaking',
    title: 'the server no longer has a capability',
    why: 'Clients that use the feature fail, or hide it.',
    fix: 'Keep the capability.',
  },
  'capability-added': {
    level: 'addition',
    title: 'the server has a new capability',
    why: 'Clients may use more features.',
    fix: 'Nothing to do.',
  },
  'protocol-changed': {
    level: 'change',
    title: 'another protocol revision was agreed on',
    why: 'Messages can have another form.',
    fix: 'Look at the change. If it is intended, tell the users of the server.',
  },
  'server-changed': {
    level: 'info',
    title: 'the server has another name or version',
    why: 'That is how it says that it was changed.',
    fix: 'Nothing to do.',
  },
  'server-missing': {
    level: 'breaking',
    title: 'a server of the contract was not found',
    why: 'Nothing that it offered can be checked.',
    fix: 'Check the right server, or make the contract again.',
  },
} as const

export type CompareRuleId = keyof typeof COMPARE_RULES

function compareRule(id: CompareRuleId): CompareRule {
  return COMPARE_RULES[id]
}

/** Levels that make `--fail-on breaking` fail. */
export function isFailure(level: FindingLevel): boolean {
  return level === 'breaking' || level === 'security'
}

/** Something that two tapes, or a contract and a server, disagree about. */
export interface Finding {
  readonly rule: CompareRuleId
  /** Usually the level of the rule. */
  readonly level: FindingLevel
  /** What it is about, such as `tool search` or `tools/call search`. */
  readonly subject: string
  /** One sentence. */
  readonly message: string
  readonly path?: string
  readonly before?: unknown
  readonly after?: unknown
  /** A value that is valid by one schema and invalid by the other, such as a call. */
  readonly witness?: unknown
  /** Names the finding in a contract, as long as the finding is the same. */
  readonly fingerprint?: string
  /** Why a contract accepts the finding. */
  readonly accepted?: string
}

type FindingDetails = Omit<Finding, 'rule' | 'level' | 'message'> &
  Partial<Pick<Finding, 'level' | 'message'>>

export function finding(rule: CompareRuleId, details: FindingDetails): Finding {
  const { level, title } = compareRule(rule)
  return { rule, level, message: title, ...details }
}
