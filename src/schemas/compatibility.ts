import { canonicalJson } from '../json/canonical.ts'
import { proveSubset, type ProofObstacle } from './prove.ts'
import { SchemaDocument } from './schema-document.ts'
import { withoutAnnotations } from './schema-parts.ts'
import { findWitnesses, workLimit, type Witness } from './witness.ts'

/**
 * Whether every value that is valid by one schema is valid by another. `same`: both say the same in the same words. `safe`: it is proven.
 * `breaking`: the witnesses prove the contrary. `unknown`: neither was found; the obstacle says where the proof stopped.
 */
export type SchemaVerdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'safe' }
  | { readonly kind: 'breaking'; readonly witnesses: readonly Witness[] }
  | { readonly kind: 'unknown'; readonly obstacle: ProofObstacle }

export interface CompareSchemasOptions {
  /** Values to begin the search with, such as recorded ones. */
  readonly known?: readonly unknown[]
  /** Milliseconds of work that the search and the proof may take, about. */
  readonly time?: number
}

/** Compares two schemas: is everything that `from` accepts accepted by `into`? For results, the new schema is `from`. */
export function compareSchemas(
  from: unknown,
  into: unknown,
  { known = [], time = 3_000 }: CompareSchemasOptions = {},
): SchemaVerdict {
  if (canonicalJson(from) === canonicalJson(into)) return { kind: 'same' }
  const [narrow, wide] = [new SchemaDocument(from), new SchemaDocument(into)]
  const isSame =
    narrow.problem === undefined &&
    wide.problem === undefined &&
    narrow.draft === wide.draft &&
    canonicalJson(withoutAnnotations(narrow.root)) === canonicalJson(withoutAnnotations(wide.root))
  if (isSame) return { kind: 'same' }
  const obstacle = proveSubset(narrow, wide, { isOver: workLimit(time / 2) })
  // A proof has been searched for first, because it is quick. What counts is a witness: it would show that the proof is wrong.
  const patience = obstacle === undefined ? time / 10 : time / 2
  const witnesses = findWitnesses(narrow, wide, { known, time: patience })
  if (witnesses.length > 0) return { kind: 'breaking', witnesses }
  return obstacle === undefined ? { kind: 'safe' } : { kind: 'unknown', obstacle }
}
