type Path = readonly (string | number)[]

/** Whether a value holds the protocol together: it is never replaced, whatever it looks like. */
export function isStructure(path: Path): boolean {
  const [first, second, , fourth] = path
  switch (path.length) {
    case 1:
      return first === 'jsonrpc' || first === 'id' || first === 'method'
    case 2:
      return (first === 'params' || first === 'result') && STRUCTURE.has(second!)
    case 3:
      return path[1] === '_meta' && path[2] === 'progressToken'
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
  return path.some((step) => step === 'inputSchema' || step === 'outputSchema' || step === 'requestedSchema')
}

/** The path within its own message: a batch is a list of messages. */
export function withinMessage(path: Path): Path {
  return typeof path[0] === 'number' ? path.slice(1) : path
}
