/**
 * The SDKs' Transport, in both their versions and on both sides. Messages and options are the SDK's own and are handed
 * on as they are, so this type names as little of them as possible.
 */
export interface AnyTransport {
  start(): Promise<void>
  send(message: unknown, options?: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: OnMessage | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  sessionId?: string | undefined
  setProtocolVersion?: ((version: string) => void) | undefined
  setSupportedProtocolVersions?: ((versions: string[]) => void) | undefined
  readonly hasPerRequestStream?: boolean
}

// Each SDK has a message type of its own. Only the type of a method fits both, whichever way it is assigned.
type OnMessage = { method(message: unknown, extra?: unknown): void }['method']
