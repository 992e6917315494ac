// Child processes: none outlives us, and we wait for what they say and for their end.
import { spawn } from 'node:child_process'

const children = new Set()
process.on('exit', () => children.forEach((child) => child.kill()))

/** Runs a script with the Node that runs us. */
export function start(file, args, options) {
  const child = spawn(process.execPath, [file, ...args], options)
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
