import type { Revision } from './revision.ts'
import { sessionRevision } from './session-revision.ts'

export const revision20250618: Revision = sessionRevision({
  version: '2025-06-18',
  schemaVersion: '2025-06-18',
})
