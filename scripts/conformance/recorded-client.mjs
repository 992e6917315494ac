// The fixture client behind a recorder: the suite starts this with the scenario's URL as last argument.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { root } from '../run.mjs'
import { ended } from './processes.mjs'
import { startRecorder } from './recorder.mjs'

const file = join(root, 'test', 'fixtures', 'clients', 'conformance.mjs')
const recorder = await startRecorder({ url: process.argv.at(-1), tape: process.env.CONFORMANCE_TAPE })
const client = spawn(process.execPath, [file, recorder.url], { stdio: 'inherit' })
const code = await ended(client)
await recorder.stop()
process.exitCode = code ?? 1
