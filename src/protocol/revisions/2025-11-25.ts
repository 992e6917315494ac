import type { Revision } from './revision.ts'
import { sessionRevision } from './session-revision.ts'

export const revision20251125: Revision = sessionRevision({
  version: '2025-11-25',
  schemaVersion: '2025-11-25',
  primesStreams: true,
})
