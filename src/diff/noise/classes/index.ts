import { jsonTypeOf } from '../../difference.ts'
import { choice } from './choice.ts'
import { constant } from './constant.ts'
import { identifier } from './identifier.ts'
import { counter, number } from './number.ts'
import { list, object } from './structure.ts'
import { anyText, template } from './text.ts'
import { time } from './time.ts'
import { uuid } from './uuid.ts'
import type { ClassKind, ValueClass } from './value-class.ts'

/** All kinds of classes, the narrowest first. The first that fits all samples is used. */
const CLASS_KINDS: readonly ClassKind[] = [
  uuid,
  time,
  counter,
  number,
  choice,
  object,
  list,
  constant,
  identifier,
  template,
  anyText,
]

/** Finds the class of values that were seen in the same place. Values of different types have a class for each type. */
export function inferClass(values: readonly unknown[]): ValueClass {
  const types = new Set(values.map(jsonTypeOf))
  const classes = new Map(
    Array.from(types, (type) => [type, inferOfType(values.filter((value) => jsonTypeOf(value) === type))]),
  )
  const [first] = classes.values()
  if (first !== undefined && classes.size === 1) return first
  return {
    text: Array.from(classes.values(), ({ text }) => text).join(', or '),
    accepts: (value, context) => classes.get(jsonTypeOf(value))?.accepts(value, context) === true,
  }
}

function inferOfType(values: readonly unknown[]): ValueClass {
  // Values that are equal in several samples are fixed, even if they look random.
  const fixed = values.length > 1 ? constant.infer(values, inferClass) : undefined
  if (fixed !== undefined) return fixed
  for (const kind of CLASS_KINDS) {
    const found = kind.infer(values, inferClass)
    if (found !== undefined) return found
  }
  return NOTHING
}

const NOTHING: ValueClass = { text: 'nothing', accepts: () => false }
