// Child processes: none outlives us, and we wait for what they say and for their end.
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

const children = new Set()
process.on('exit', () => children.forEach((child) => child.kill()))

/** Starts a command that ends with us. */
export function start([command, ...args], options) {
  const child = spawn(command, args, options)
  children.add(child)
  child.on('exit', () => children.delete(child))
  return child
}

/** Resolves with the first match in what the stream says; rejects when the process ends before that. */
export function firstMatch(child, stream, pattern) {
  return new Promise((resolve, reject) => {
    let text = ''
    const look = (chunk) => {
      text += chunk
      const found = pattern.exec(text)
      if (found === null) return
      stream.off('data', look)
      resolve(found)
    }
    stream.setEncoding('utf8').on('data', look)
    child.on('error', reject)
    child.on('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} ended with ${code}: ${text}`)))
  })
}

/** Resolves with the exit code once the process has ended and everything that it said has been read. */
export function ended(child) {
  return new Promise((resolve) => {
    child.on('close', resolve)
  })
}

export async function end(child) {
  const over = ended(child)
  child.kill('SIGTERM')
  return over
}

/** For servers that take no port 0 and do not tell their port: one that is free now. */
export async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
