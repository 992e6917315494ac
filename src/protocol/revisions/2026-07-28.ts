import type { Revision } from './revision.ts'
import { statelessRevision } from './stateless-revision.ts'

export const revision20260728: Revision = statelessRevision({ version: '2026-07-28' })
