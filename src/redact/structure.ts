type Path = readonly (string | number)[]

/** Whether a value holds the protocol together: it is never replaced, whatever it looks like. */
export function isStructure(path: Path): boolean {
  const [first, second, third, fourth] = path
  switch (path.length) {
    case 1:
      return first === 'jsonrpc' || first === 'id' || first === 'method'
    case 2:
      return (first === 'params' || first === 'result') && STRUCTURE.has(second!)
    case 3:
      return (second === '_meta' && third === 'progressToken') || (second === 'ref' && third === 'name')
    case 4:
      return first === 'result' && LISTS.has(second!) && LISTED.has(fourth!)
    default:
      return false
  }
}

const STRUCTURE = new Set<string | number>([
  'name',
  'protocolVersion',
  'progressToken',
  'requestId',
  'resultType',
])
const LISTS = new Set<string | number>(['tools', 'prompts', 'resourceTemplates'])
const LISTED = new Set<string | number>(['name', 'uriTemplate'])

/** A schema says what values may be, and is none itself: its names mean nothing of the kind. */
export function isInSchema(path: Path): boolean {
  const end = Math.min(path.length, LOOKED_AT)
  for (let at = 0; at < end; at++) if (SCHEMAS.has(path[at]!)) return true
  return false
}

const SCHEMAS = new Set<string | number>(['inputSchema', 'outputSchema', 'requestedSchema'])
/** Nobody asks for deeper ones, and a path can be as long as a message. */
const LOOKED_AT = 64

/** The path within its own message: a batch is a list of messages. */
export function withinMessage(path: Path): Path {
  return typeof path[0] === 'number' ? path.slice(1) : path
}
