// pipe.mjs command…: what any recorder in Node costs before it records: every chunk is handed on, and nothing else is done.
import { spawn } from 'node:child_process'

const [file, ...args] = process.argv.slice(2)
const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] })
process.stdin.pipe(child.stdin)
child.stdout.pipe(process.stdout)
