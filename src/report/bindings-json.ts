import type { BindingFacts } from './bindings.ts'
import { jsonDocument, plain } from './json-text.ts'

/** Bindings for programs, as `docs/bindings.md` describes them. */
export function bindingsAsJson({ path, bindings, guesses }: BindingFacts): string {
  return jsonDocument({
    tape: plain(path),
    bindings: bindings.map(plain),
    guesses: guesses.map(plain),
  })
}
