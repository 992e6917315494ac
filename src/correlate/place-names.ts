import type { Path } from '../wire/members.ts'
import type { Lens } from './binding.ts'
import { wordsOf, type Names } from './names.ts'

/** The names around a value: the member that holds it and those above, and the words of the tool that it went to or came from. */
export function namesAt(path: Path, inside: readonly Lens[], about: readonly string[]): Names {
  const keys = [
    ...path.slice(1),
    ...inside.flatMap((lens) => (lens.kind === 'json' ? lens.path : [])),
  ].filter((step) => typeof step === 'string')
  const own = keys.at(-1) ?? ''
  const above = keys.slice(0, -1).flatMap(wordsOf)
  return { own: wordsOf(own), around: [...above, ...about] }
}

/** A value inside a text is named by the words before it; where there are none, by the name of the text. */
export function namesInText(outer: Names, label: readonly string[]): Names {
  const words = label.flatMap(wordsOf)
  return words.length === 0 ? outer : { own: words, around: [...outer.own, ...outer.around] }
}
