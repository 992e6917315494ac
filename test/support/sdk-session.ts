import { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { isObject, type JsonObject } from '../../src/json/parse.ts'
import { clientOf, stdioOf, type AnyClient, type AnyStdio, type ClientSettings, type Sdk } from './sdk.ts'

/** A client at work, and everything that reached it. */
export interface SdkSession {
  readonly client: AnyClient
  readonly received: readonly JsonObject[]
  /** What the SDK complained of. */
  readonly errors: readonly string[]
  /** Resolves when a message that holds this text has come. */
  readonly hears: (text: string) => Promise<void>
}

export interface SdkProcess extends SdkSession {
  /** Closes the client and says how the process that it had started came to its end. */
  readonly close: () => Promise<{ code: number | null; signal: string | null; stderr: string }>
}

export interface Target extends ClientSettings {
  readonly sdk: Sdk
  readonly command: readonly string[]
  readonly env?: Record<string, string>
}

/** Connects a client to a command, exactly as its config would have it. */
export async function connectStdio({ sdk, command, env = {}, ...settings }: Target): Promise<SdkProcess> {
  const transport = stdioOf(sdk, command, env)
  const stderr = text(transport.stderr as Readable)
  const session = await connect(clientOf(sdk, settings), transport)
  const child = childOf(transport)
  const closed = once(child, 'close')
  const close: SdkProcess['close'] = async () => {
    await session.client.close()
    await closed
    return { code: child.exitCode, signal: child.signalCode, stderr: await stderr }
  }
  return { ...session, close }
}

/** Both SDKs hand on what a transport delivers to whoever listened before they did. */
export async function connect(
  client: AnyClient,
  transport: Parameters<AnyClient['connect']>[0],
): Promise<SdkSession> {
  const received: JsonObject[] = []
  const errors: string[] = []
  const arrivals = new EventEmitter()
  const onmessage = (message: unknown): void => {
    if (isObject(message)) received.push(message)
    arrivals.emit('message')
  }
  Object.assign(transport, { onmessage })
  Object.assign(client, { onerror: ({ message }: Error) => errors.push(message) })
  const hears = async (words: string): Promise<void> => {
    const isThere = (): boolean => received.some((message) => JSON.stringify(message).includes(words))
    while (!isThere()) await once(arrivals, 'message')
  }
  await client.connect(transport)
  return { client, received, errors, hears }
}

/** Neither SDK tells how its child ended, and both keep it under this name. */
function childOf(transport: AnyStdio): ChildProcess {
  const child: unknown = Reflect.get(transport, '_process')
  if (child instanceof ChildProcess) return child
  throw new Error('the SDK keeps its child process elsewhere now')
}
