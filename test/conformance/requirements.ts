/** A rule of the protocol that we rely on, where it is written, and the test that cites it. */
export interface Requirement {
  readonly rule: string
  readonly link: string
  readonly file: string
  readonly test: string
}

const LEGACY = 'https://modelcontextprotocol.io/specification/2025-11-25'
const MODERN = 'https://modelcontextprotocol.io/specification/2026-07-28'

export const requirements: readonly Requirement[] = [
  {
    rule: 'on stdio a message is one line of UTF-8; what is no message is not the protocol, and is passed on all the same',
    link: `${LEGACY}/basic/transports#stdio`,
    file: 'test/record/bytes.test.ts',
    test: 'a line that is not a message is kept as a raw line that says why',
  },
  {
    rule: 'a server may write to stderr, and that is no error',
    link: `${LEGACY}/basic/transports#stdio`,
    file: 'test/record/session.test.ts',
    test: 'stderr is forwarded and recorded, even a character that was split between chunks',
  },
  {
    rule: 'a client ends a server by closing its input, then SIGTERM, then SIGKILL',
    link: `${LEGACY}/basic/lifecycle#shutdown`,
    file: 'test/record/ending.test.ts',
    test: 'if the client only closes its side, the server is ended step by step',
  },
  {
    rule: 'an id is a string or an integer, and the answer carries the same one',
    link: `${LEGACY}/basic#requests`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'the answer carries the live id %s, and every other byte is as recorded',
  },
  {
    rule: 'ids of the two sides are two name spaces',
    link: `${LEGACY}/basic#requests`,
    file: 'src/tape/turn-builder.test.ts',
    test: 'a request of the server is not taken for a response with the same id',
  },
  {
    rule: 'a notification is never answered',
    link: `${LEGACY}/basic#notifications`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'notifications are never answered: a recorded one sets off what it set off, another is noted',
  },
  {
    rule: 'a server answers initialize in the version that was asked for, if it speaks it',
    link: `${LEGACY}/basic/lifecycle#version-negotiation`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'initialize is answered whoever the client is, in the version that it asks for',
  },
  {
    rule: 'progress names the token of the request it belongs to',
    link: `${LEGACY}/basic/utilities/progress`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'progress carries the live token, byte for byte',
  },
  {
    rule: 'no progress without a token',
    link: `${LEGACY}/basic/utilities/progress`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'a request without a progress token gets no progress',
  },
  {
    rule: 'a cancelled request gets no answer',
    link: `${LEGACY}/basic/utilities/cancellation`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'a request that the live client cancels gets nothing more',
  },
  {
    rule: 'ping is answered with an empty result',
    link: `${LEGACY}/basic/utilities/ping`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'ping is answered though nobody recorded one',
  },
  {
    rule: 'in the modern era every result has a resultType; an envelope alone proves nothing',
    link: `${MODERN}/basic`,
    file: 'src/protocol/revisions/index.test.ts',
    test: 'an envelope alone proves nothing: a legacy server answers it under its own rules',
  },
  {
    rule: 'a modern server answers server/discover, and refuses initialize with the versions that it speaks',
    link: `${MODERN}/basic/lifecycle`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'a modern tape answers server/discover, and refuses initialize with what it speaks',
  },
  {
    rule: 'what belongs to a subscription carries the id of its listen request',
    link: `${MODERN}/basic/subscriptions`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'a subscription hears its live id, and what a call caused only after that call',
  },
  {
    rule: 'a modern server sends log messages only to a request that asks for a level',
    link: `${MODERN}/server/utilities/logging`,
    file: 'src/serve/player/session-player.test.ts',
    test: 'log messages of a modern call go only to a client that asks for them',
  },
]
