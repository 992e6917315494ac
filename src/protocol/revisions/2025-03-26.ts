import type { Revision } from './revision.ts'
import { sessionRevision } from './session-revision.ts'

export const revision20250326: Revision = sessionRevision({
  version: '2025-03-26',
  schemaVersion: '2025-03-26',
  allowsBatches: true,
})
