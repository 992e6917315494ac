// Seeded changes are data: one operation on the document from which a scene makes its answer.

/** Returns a copy of the document with the change made to it. Throws if the change has no effect, because it would prove nothing. */
export function changed(document, change) {
  const copy = structuredClone(document)
  const made = OPERATIONS[operationOf(change)](copy, change)
  if (JSON.stringify(made ?? copy) === JSON.stringify(document))
    throw new Error(`the change ${change.id} has no effect`)
  return copy
}

/** The value that a finding has to mention, as text: the new value, or the old one if it is gone. */
export function tokensOf(document, change) {
  if (change.token !== undefined) return [change.token]
  const operation = operationOf(change)
  if (operation === 'replace') return wordsThatDiffer(change.replace[1], change.replace[2])
  if (operation === 'set') {
    const sides = [valueAt(document, change.set[0]), change.set[1]].filter(isMentionable).map(String)
    // A URL is compared by its parts.
    return sides.some((side) => side.includes('://')) ? wordsThatDiffer(...sides) : sides
  }
  if (operation === 'drop') {
    const value = valueAt(document, change.drop)
    return isMentionable(value) ? [String(value)] : []
  }
  return []
}

/** Where the changed place is in the document: the list or object for anything but a new value. */
export function placeOf(change) {
  const operation = operationOf(change)
  if (operation === 'set') return change.set[0]
  if (operation === 'replace') return change.replace[0]
  if (operation === 'swap' || operation === 'add') return parentOf(change[operation][0], operation)
  return parentOf(operation === 'drop' ? change.drop : change.rename[0], operation)
}

const OPERATIONS = {
  set: (document, { set: [path, value] }) => put(document, path, () => value),
  replace: (document, { replace: [path, from, to] }) =>
    put(document, path, (text) => text.replace(from, () => to)),
  drop: (document, { drop }) => {
    const [holder, key] = holderOf(document, drop)
    if (Array.isArray(holder)) holder.splice(key, 1)
    else delete holder[key]
  },
  add: (document, { add: [path, value] }) => {
    const [holder, key] = holderOf(document, path)
    if (Array.isArray(holder)) holder.splice(key, 0, value)
    else holder[key] = value
  },
  swap: (document, { swap: [path, first, second] }) => {
    const list = valueAt(document, path)
    const kept = list[first]
    list[first] = list[second]
    list[second] = kept
  },
  rename: (document, { rename: [path, name] }) => {
    const [holder, key] = holderOf(document, path)
    holder[name] = holder[key]
    delete holder[key]
  },
}

function operationOf(change) {
  const operation = Object.keys(OPERATIONS).find((name) => name in change)
  if (operation === undefined) throw new Error(`the change ${change.id} names no operation`)
  return operation
}

function put(document, path, make) {
  const [holder, key] = holderOf(document, path)
  holder[key] = make(holder[key])
}

function holderOf(document, path) {
  const keys = keysOf(path)
  const last = keys.pop()
  return [keys.reduce((value, key) => value[key], document), last]
}

function valueAt(document, path) {
  return keysOf(path).reduce((value, key) => value?.[key], document)
}

function keysOf(path) {
  return [...path.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key))
}

function parentOf(path, operation) {
  if (operation === 'swap') return path
  return path.replace(/(^|\.)[^.[\]]+$|\[\d+\]$/, '')
}

function isMentionable(value) {
  return value !== null && typeof value !== 'object' && value !== ''
}

/** A finding may show only the part of a text that differs, so one word that is on one side only is enough. */
function wordsThatDiffer(from, to) {
  const old = new Set(words(from))
  const now = new Set(words(to))
  return [...words(from).filter((word) => !now.has(word)), ...words(to).filter((word) => !old.has(word))]
}

function words(text) {
  return text.match(/[\p{L}\p{N}]+/gu) ?? []
}
