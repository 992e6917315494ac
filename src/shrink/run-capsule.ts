import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tape } from '../store/file/read.ts'
import type { CapsuleFacts } from './capsule.ts'
import { readFailingSession } from './failing-session.ts'
import { NO_ITEM, Prober, type Probe } from './prober.ts'
import { heldHint } from './shrink.ts'

interface CapsuleRunOptions {
  readonly tape: Tape
  readonly facts: CapsuleFacts
  readonly probe: Probe
  /** How often the session is run until it fails. */
  readonly runs: number
  readonly signal: AbortSignal
}

type CapsuleOutcome =
  | { readonly kind: 'fails'; readonly run: number; readonly summary: string }
  | { readonly kind: 'passes'; readonly runs: number }
  /** Calls were held back, so nothing is known. */
  | { readonly kind: 'not-sent'; readonly why: string; readonly hint: string }

/** Runs the session of a capsule again, the way it was sent when it failed. */
export async function runCapsule(options: CapsuleRunOptions): Promise<CapsuleOutcome> {
  const { tape, facts, probe, runs, signal } = options
  const session = await readFailingSession(tape, {})
  const folder = mkdtempSync(join(tmpdir(), 'reelay-capsule-'))
  try {
    const limits = { maxProbes: runs, maxMs: Infinity, signal }
    const prober = new Prober(session, { probe, limits, folder, output: join(folder, 'last.tape.jsonl') })
    const { isSequential, hasPauses, call, signature, summary } = facts
    const candidate = {
      turns: new Set(session.items),
      edits: new Map(),
      isSequential,
      hasPauses,
      isOneConnection: false,
    }
    const wanted =
      probe.kind === 'command' ? undefined : { failure: { call, signature, summary }, item: NO_ITEM }
    for (let run = 1; run <= runs && !signal.aborted; run++) {
      const found = await prober.observe(candidate, wanted)
      if (found !== undefined) return { kind: 'fails', run, summary: found.failure.summary }
      const hint = heldHint(prober.heldTools)
      if (hint !== undefined) return { kind: 'not-sent', why: 'a call was held back', hint }
    }
    return { kind: 'passes', runs }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
