import { randomUUID } from 'node:crypto'
import { seededRandom } from '../seeded-random.ts'

/** Ids for sessions: nobody can guess them, unless a seed says that two runs are to be alike. */
export function sessionIdGenerator(seed: number | undefined): () => string {
  if (seed === undefined) return randomUUID
  const random = seededRandom(seed)
  return () => seededUuid(random)
}

/** In the form of a random UUID: its version is 4, its variant one of 8, 9, a and b. */
function seededUuid(random: () => number): string {
  const digit = (): string => Math.floor(random() * 16).toString(16)
  const variant = (): string => '89ab'[Math.floor(random() * 4)] ?? '8'
  return UUID_TEMPLATE.replaceAll(/[xy]/g, (place) => (place === 'x' ? digit() : variant()))
}

const UUID_TEMPLATE = 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'
