import type { FaultKind } from '../fault.ts'
import { delay } from './delay.ts'
import { disconnect } from './disconnect.ts'
import { downgrade } from './downgrade.ts'
import { drop } from './drop.ts'
import { duplicate } from './duplicate.ts'
import { error } from './error.ts'
import { flood } from './flood.ts'
import { http } from './http.ts'
import { late } from './late.ts'
import { listing } from './listing.ts'
import { malformed } from './malformed.ts'
import { storm } from './storm.ts'
import { progress } from './progress.ts'
import { refuse } from './refuse.ts'
import { result } from './result.ts'
import { skew } from './skew.ts'
import { rounds } from './rounds.ts'
import { stray } from './stray.ts'
import { task } from './task.ts'
import { timeout } from './timeout.ts'
import { unsubscribe } from './unsubscribe.ts'
import { wire } from './wire.ts'

/** All kinds of faults, in the order of the documentation. */
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
  wire,
  stray,
  storm,
  flood,
  progress,
  result,
  listing,
  refuse,
  downgrade,
  skew,
  task,
  unsubscribe,
  rounds,
]
