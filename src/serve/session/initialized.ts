import type { JsonObject } from '../../wire/message.ts'
import { LEGACY_VERSIONS, META, metaOf } from '../../wire/methods.ts'
import { discoveryFrom } from '../discovery.ts'
import type { Script } from '../script.ts'

/** What a session asks `initialize` with. */
export const INITIALIZE: JsonObject = {
  protocolVersion: LEGACY_VERSIONS[0],
  capabilities: {},
  clientInfo: { name: 'reelay', version: '1' },
}

/** Whether the tape has an answer to `initialize`. */
export function isInitializeRecorded(script: Script): boolean {
  return script.turnsOf('initialize').some(({ response }) => response !== undefined)
}

/** What stands in for it when nobody recorded one: what the rest of the tape shows of the server. */
export function standInForInitialize({ turns }: Script): JsonObject {
  const version = LEGACY_VERSIONS[0] ?? ''
  const found = discoveryFrom(turns, version)
  return {
    protocolVersion: version,
    capabilities: found['capabilities'],
    serverInfo: metaOf(found, META.serverInfo) ?? { name: 'recorded server', version: '0' },
  }
}
