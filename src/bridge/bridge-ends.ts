import type { BridgeRoute } from '../link/bridge/http-requests.ts'

/** The two sides that a bridge joins. */
export interface BridgeContext extends BridgeRoute {
  /** A message for the client, without line feeds. */
  readonly toClient: (message: string) => void
  /** For people. */
  readonly say: (words: string) => void
}

/** Between the tokens of JSON a line feed is white space. */
export function asSingleLine(text: string): string {
  return text.trim().replaceAll(/[\r\n]+/g, ' ')
}
