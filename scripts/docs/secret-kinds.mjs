import { table } from './option-tables.mjs'

const MARKED = /(<!-- secret kinds -->\n)[^]*?(<!-- \/secret kinds -->)/

/** A page with the kinds of secrets that the default rules know between `<!-- secret kinds -->` and `<!-- /secret kinds -->`. */
export function withSecretKinds(page, rules) {
  return page.replace(MARKED, (_, begin, end) => `${begin}\n${kindsTable(rules)}\n\n${end}`)
}

function kindsTable(rules) {
  const byName = groupedByName(rules)
  const rows = [...byName].map(([name, same]) => [
    [...new Set(same.map(({ service }) => service))].join(', '),
    shownShapes(same.flatMap(({ shapes = [] }) => shapes)),
    code(name),
  ])
  const sorted = rows.toSorted(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
  return table(['Secret of', 'Looks like', 'Rule'], sorted)
}

function groupedByName(rules) {
  const groups = new Map()
  for (const rule of rules) groups.set(rule.name, [...(groups.get(rule.name) ?? []), rule])
  return groups
}

function shownShapes(shapes) {
  const shown = [...new Set(shapes.map(shownShape))].map(code)
  return shown.length <= MOST_SHAPES
    ? shown.join(', ')
    : `${shown.slice(0, MOST_SHAPES).join(', ')} and others`
}

const MOST_SHAPES = 6

/** A shape with an ellipsis for each gap. */
function shownShape(shape) {
  return shape
    .replaceAll(/^[|~]|\|$/g, '')
    .replaceAll(/\{[^}]*\}/g, '…')
    .replaceAll(/…(?:-…)+/g, '…')
}

function code(text) {
  return `\`${text}\``
}
