import type { BindingFacts } from './bindings.ts'
import { jsonDocument, jsonValue } from './json-text.ts'

/** Bindings for programs, as `docs/bindings.md` describes them. */
export function bindingsAsJson({ path, bindings, guesses }: BindingFacts): string {
  return jsonDocument({
    tape: jsonValue(path),
    bindings: bindings.map(jsonValue),
    guesses: guesses.map(jsonValue),
  })
}
