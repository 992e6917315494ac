import { delay } from './delay.ts'
import { disconnect } from './disconnect.ts'
import { drop } from './drop.ts'
import { duplicate } from './duplicate.ts'
import { error } from './error.ts'
import type { FaultKind } from './fault.ts'
import { http } from './http.ts'
import { late } from './late.ts'
import { malformed } from './malformed.ts'
import { storm } from './storm.ts'
import { timeout } from './timeout.ts'

/** Every kind of fault, in the order in which help and docs name them. */
export const FAULT_KINDS: readonly FaultKind[] = [
  delay,
  timeout,
  error,
  malformed,
  duplicate,
  late,
  drop,
  disconnect,
  http,
  storm,
]
