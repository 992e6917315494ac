type TokenPath = readonly (string | number)[]

/** Whether a value holds the protocol together: it is never replaced, whatever it looks like. */
export function isProtocolField(path: TokenPath): boolean {
  const [first, second, third, fourth] = path
  switch (path.length) {
    case 1:
      return first === 'jsonrpc' || first === 'id' || first === 'method'
    case 2:
      return (first === 'params' || first === 'result') && PROTOCOL_FIELDS.has(second!)
    case 3:
      return (second === '_meta' && third === 'progressToken') || (second === 'ref' && third === 'name')
    case 4:
      return first === 'result' && PROTOCOL_LISTS.has(second!) && LISTED_FIELDS.has(fourth!)
    default:
      return false
  }
}

const PROTOCOL_FIELDS = new Set<string | number>([
  'name',
  'protocolVersion',
  'progressToken',
  'requestId',
  'resultType',
])
const PROTOCOL_LISTS = new Set<string | number>(['tools', 'prompts', 'resourceTemplates'])
const LISTED_FIELDS = new Set<string | number>(['name', 'uriTemplate'])

/** A schema says what values may be, and is none itself: its names mean nothing of the kind. */
export function isInSchema(path: TokenPath): boolean {
  const end = Math.min(path.length, MAX_SCHEMA_DEPTH)
  for (let at = 0; at < end; at++) if (SCHEMAS.has(path[at]!)) return true
  return false
}

const SCHEMAS = new Set<string | number>(['inputSchema', 'outputSchema', 'requestedSchema'])
/** Nobody asks for deeper ones, and a path can be as long as a message. */
const MAX_SCHEMA_DEPTH = 64

/** The path within its own message: a batch is a list of messages. */
export function withinMessage(path: TokenPath): TokenPath {
  return typeof path[0] === 'number' ? path.slice(1) : path
}
