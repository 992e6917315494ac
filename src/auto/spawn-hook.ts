import childProcess, { type ChildProcess, type SpawnOptions } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { callerStack, isSdkSpawn } from './sdk-caller.ts'

/** What an SDK wants to start. */
interface ServerStart {
  readonly command: readonly string[]
  readonly options: SpawnOptions
  /** Starts it, with the environment given. */
  readonly run: (env: NodeJS.ProcessEnv | undefined) => ChildProcess
}

/** Stands in for the start of a server; undefined lets it happen as if nobody looked. */
export type SpawnInterceptor = (start: ServerStart) => ChildProcess | undefined

type Spawn = (command: string, ...rest: readonly unknown[]) => ChildProcess

/**
 * Both SDKs start a server with `child_process.spawn`, from ES modules and from CommonJS. Only calls that come straight from
 * their stdio transport are looked at; every other child process of the program is started as ever.
 */
export function hookSpawn(onStart: SpawnInterceptor): void {
  const original = childProcess.spawn as unknown as Spawn
  const spawn: Spawn = (command, ...rest) => {
    const plain = (): ChildProcess => original(command, ...rest)
    const [args, options] = rest
    if (!Array.isArray(args) || !hasPipes(options) || !isSdkSpawn(callerStack(spawn))) return plain()
    const run = (env: NodeJS.ProcessEnv | undefined): ChildProcess =>
      original(command, args, { ...options, env })
    return onStart({ command: [command, ...args.map(String)], options, run }) ?? plain()
  }
  Object.assign(childProcess, { spawn })
  syncBuiltinESMExports()
}

/** A server is spoken to over its stdin and stdout. */
function hasPipes(options: unknown): options is SpawnOptions {
  if (typeof options !== 'object' || options === null || !('stdio' in options)) return false
  const { stdio } = options
  return Array.isArray(stdio) && stdio[0] === 'pipe' && stdio[1] === 'pipe'
}
