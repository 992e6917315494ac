import type { Fault, FaultKind } from './fault.ts'

/** A kind of fault that there is no more to say about: `timeout: true`. */
export function flagFault(name: string, fault: Fault): FaultKind {
  return { name, expects: 'true', parse: (value) => (value === true ? fault : undefined) }
}
