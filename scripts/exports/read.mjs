// Reads an export with a program of others, and prints what it found in it. Runs in the folder where the programs are installed.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [format, file] = process.argv.slice(2)
const require = createRequire(join(process.cwd(), 'package.json'))
const load = (name) => import(pathToFileURL(require.resolve(name)).href)
const content = JSON.parse(readFileSync(file, 'utf8'))

const READERS = {
  async openapi() {
    const { Validator } = await load('@seriousme/openapi-schema-validator')
    const { valid, errors } = await new Validator().validate(content)
    if (!valid) throw new Error(JSON.stringify(errors))
    return Object.keys(content.paths)
  },
  async har() {
    const { default: validator } = await load('har-validator')
    await validator.har(content)
    return content.log.entries.map(({ request, response }) => `${request.method} ${response.status}`)
  },
  /** The engine of the Performance panel of Chrome. */
  async trace() {
    const { Processor } = await load('@paulirish/trace_engine')
    const processor = Processor.TraceProcessor.createWithAllHandlers()
    await processor.parse(content.traceEvents, {})
    const { processNames } = processor.data.Meta
    const names = [...processNames.values()].map((event) => event.args.name)
    if (names.length === 0) throw new Error('no process has a name')
    const pairs = new Map()
    for (const { ph, id } of content.traceEvents)
      if (ph === 'b' || ph === 'e') pairs.set(id, (pairs.get(id) ?? '') + ph)
    const open = [...pairs].filter(([, phases]) => phases !== 'be')
    if (open.length > 0) throw new Error(`events that do not begin and end: ${open.join(' ')}`)
    return [...names, `${pairs.size} calls`]
  },
}

console.log((await READERS[format]()).join('\n'))
