import type { JsonObject } from '../../protocol/message.ts'
import { LEGACY_VERSIONS, META_KEYS, metaValue } from '../../protocol/methods.ts'
import { discoverResultFrom } from '../discovery.ts'
import type { RecordedServer } from '../player/recorded-server.ts'

/** What a session asks `initialize` with. */
export const INITIALIZE_PARAMS: JsonObject = {
  protocolVersion: LEGACY_VERSIONS[0],
  capabilities: {},
  clientInfo: { name: 'reelay', version: '1' },
}

/** Whether the tape has an answer to `initialize`. */
export function isInitializeRecorded(script: RecordedServer): boolean {
  return script.turnsOfMethod('initialize').some(({ response }) => response !== undefined)
}

/** What stands in for it when nobody recorded one: what the rest of the tape shows of the server. */
export function syntheticInitializeResult({ turns }: RecordedServer): JsonObject {
  const version = LEGACY_VERSIONS[0] ?? ''
  const found = discoverResultFrom(turns, version)
  return {
    protocolVersion: version,
    capabilities: found['capabilities'],
    serverInfo: metaValue(found, META_KEYS.serverInfo) ?? { name: 'recorded server', version: '0' },
  }
}
