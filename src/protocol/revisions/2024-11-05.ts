import type { Revision } from './revision.ts'
import { sessionRevision } from './session-revision.ts'

// Its own schema is not bundled: that of 2025-03-26 only adds to it.
export const revision20241105: Revision = sessionRevision({
  version: '2024-11-05',
  schemaVersion: '2025-03-26',
})
