import type { ReplayStep } from './steps/step.ts'

/** Whether a step is not as recorded, in a way that counts. */
export function hasFailed({ findings }: Pick<ReplayStep, 'findings'>): boolean {
  return findings.some(({ level }) => level === 'error')
}
