import type { StepResult } from './step-result.ts'

/** Whether a step is not as recorded, in a way that counts. */
export function hasFailed({ findings }: Pick<StepResult, 'findings'>): boolean {
  return findings.some(({ level }) => level === 'error')
}
