import type { Revision } from './revision.ts'
import { sessionRevision } from './session-revision.ts'

// There is no official schema of this pre-release.
export const revision20241007: Revision = sessionRevision({ version: '2024-10-07', schemaVersion: undefined })
