import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tape } from '../store/file/read.ts'
import { renewCanary } from './canary.ts'
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
  /** The server runs on another machine. */
  readonly isRemote: boolean
}

type CapsuleOutcome =
  | { readonly kind: 'fails'; readonly run: number; readonly summary: string }
  | { readonly kind: 'passes'; readonly runs: number }
  /** The failure could not show, so nothing is known. */
  | { readonly kind: 'unknown'; readonly why: string; readonly hint: string }

/** Runs the session of a capsule again, the way it was sent when it failed. */
export async function runCapsule(options: CapsuleRunOptions): Promise<CapsuleOutcome> {
  const { facts, probe, runs, signal } = options
  const renewed = renewCanary(options.tape, probe.kind === 'server' ? probe.command : [])
  const folder = mkdtempSync(join(tmpdir(), 'reelay-capsule-'))
  try {
    const problem = canaryProblem(renewed.canary, options)
    if (problem !== undefined) return { kind: 'unknown', ...problem }
    const session = await readFailingSession(renewed.tape, {})
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
      if (hint !== undefined) return { kind: 'unknown', why: 'a call was held back', hint }
    }
    const isSent = probe.kind === 'command' || !call.includes('/') || prober.sentCalls.has(call)
    if (isSent || signal.aborted) return { kind: 'passes', runs }
    return {
      kind: 'unknown',
      why: 'it was not sent; it is not in the session, or what it needs from earlier calls is missing',
      hint: 'reelay capsule extract writes the tape, and reelay replay shows each response',
    }
  } finally {
    renewed.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Why a server that reads files that it does not offer would not show it. */
function canaryProblem(
  canary: 'none' | 'ready' | 'impossible',
  { isRemote, probe }: CapsuleRunOptions,
): { readonly why: string; readonly hint: string } | undefined {
  if (probe.kind === 'command' || probe.oracle.text !== 'traversal') return undefined
  if (canary === 'none')
    return {
      why: 'no request asks for a file that Reelay can write again',
      hint: 'make a new capsule with reelay vary --probes',
    }
  if (canary === 'impossible')
    return {
      why: 'the server may read every folder in which a file could be hidden from it',
      hint: 'start the server with the folders that it should offer, and run this in another folder',
    }
  return isRemote
    ? {
        why: 'the server runs on another machine, where the file that it must not read does not exist',
        hint: 'run the capsule on the machine of the server',
      }
    : undefined
}
