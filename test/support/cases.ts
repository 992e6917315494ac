import fc from 'fast-check'

/** How many cases each property should try, from the environment: `REELAY_CASES=5000 npm run test:unit`. */
const WANTED = Number(process.env['REELAY_CASES'] ?? 0)

/** Settings of a property that tries `inGate` cases in the gate, and more if `REELAY_CASES` asks for more. */
export function cases(inGate: number): { readonly numRuns: number } {
  return { numRuns: Math.max(inGate, WANTED) }
}

/** Like `cases`, for tests whose every case starts processes: one for each hundred that `REELAY_CASES` asks for. */
export function costlyCases(inGate: number): { readonly numRuns: number } {
  return { numRuns: Math.max(inGate, Math.ceil(WANTED / 100)) }
}

// This file is also a setup file: properties that name no number of cases try this many.
fc.configureGlobal({ ...fc.readConfigureGlobal(), ...cases(50) })
