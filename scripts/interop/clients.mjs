// What each client prints for a task, with what is its own taken off: the names of the tools, or the result of a call.
import { ended, start } from '../processes.mjs'
import { inspector, mcporter } from './programs.mjs'

/** A client takes a target, `{ command }` or `{ url, transport }`, and a task, `{ tool, args }`, or without a tool the list of all. */
export const CLIENTS = {
  inspector: {
    title: inspector.title,
    use: async (target, task, era = 'legacy') => {
      const where = target.command
        ? ['--', ...target.command]
        : ['--transport', target.transport, '--server-url', target.url]
      const { tool, args } = task
      const what = tool
        ? ['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)]
        : ['--method', 'tools/list']
      const options = ['--format', 'json', '--quiet', '--protocol-era', era, ...what]
      const { result } = await printed([...inspector.command, ...options, ...where])
      return tool ? result : namesOf(result.tools)
    },
  },
  mcporter: {
    title: mcporter.title,
    use: async (target, { tool, args }) => {
      const where = target.command
        ? ['--stdio', target.command.map((word) => `"${word}"`).join(' ')]
        : ['--http-url', target.url, '--allow-http']
      const what = tool
        ? ['call', '--output', 'json', ...where, '--name', 'subject', tool, '--args', JSON.stringify(args)]
        : ['list', '--json', ...where, '--name', 'subject']
      const value = await printed([...mcporter.command, ...what])
      return tool ? value : namesOf(value.tools)
    },
  },
}

function namesOf(tools) {
  return tools.map(({ name }) => name).toSorted()
}

async function printed(command) {
  const child = start(command, { stdio: ['ignore', 'pipe', 'pipe'] })
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (chunk) => (text[name] += chunk))
  const code = await ended(child)
  try {
    return JSON.parse(text.stdout)
  } catch {
    throw new Error(`${command.join(' ')} ended with ${code}: ${text.stdout}${text.stderr}`)
  }
}
