// The results as tables for people.

export function printChanges(results, { verbose }) {
  const changes = results.filter(({ isControl }) => !isControl)
  const controls = results.filter(({ isControl, isFound }) => isControl && isFound)
  console.log('\nSeeded changes, each alone\n')
  const wide = groupBy(changes, wayOf)
  printTable(wide)
  console.log('\nBy shape\n')
  printTable(groupBy(changes, ({ shape }) => shape))
  printList(
    'Missed',
    changes.filter(({ isFound }) => !isFound),
    verbose,
  )
  printList(
    'Found, but not named',
    changes.filter(({ isFound, isNamed }) => isFound && !isNamed),
    verbose,
  )
  printList('False alarms of the unchanged server', controls, true)
}

export function printAlarms(results, { verbose }) {
  const alarmed = results.filter((result) => result.alarmed > 0)
  console.log('\nVolatile values of an unchanged server\n')
  for (const [name, list] of groupBy(
    results,
    ({ age, era, transport, profile }) => `${age}, ${era}, ${transport}, ${profile} profile`,
  )) {
    const bad = list.filter((result) => result.alarmed > 0)
    console.log(
      `${name.padEnd(42)} ${list.length} kinds, ${sum(list, 'runs')} runs, ${sum(list, 'alarmed')} false alarms of ${bad.length} kinds`,
    )
  }
  for (const [kind, list] of groupBy(alarmed, (result) => result.kind)) {
    const where = list.map(
      ({ age, era, transport, profile, alarmed: n, runs }) =>
        `${age}/${era}/${transport}${profile === 'with' ? '/profile' : ''} ${n}/${runs}`,
    )
    console.log(`  ${kind}: ${where.join(', ')}${verbose ? `\n    ${list[0].why}` : ''}`)
  }
}

export function printSometimes(results, { verbose }) {
  const passed = results.filter(({ isFound }) => !isFound)
  console.log('\nChanges in every other run\n')
  for (const [name, list] of groupBy(
    results,
    ({ era, transport, noise, parity }) => `${era}, ${transport}, ${noise} noise, ${parity} runs`,
  )) {
    const bad = list.filter(({ isFound }) => !isFound)
    console.log(
      `${name.padEnd(38)} ${list.length} tried, ${list.length - bad.length} reported, ${bad.length} passed`,
    )
  }
  const why = passed.map((result) => ({
    ...result,
    transport: `${result.transport}/${result.parity}`,
    why: `${result.verdict}, ${result.runs} runs`,
  }))
  printList('Passed', why, verbose)
}

export function printServers(results) {
  console.log('\nServers of others\n')
  for (const { name, runs, alarmed, tried = 0, missed = 0, why } of results)
    console.log(
      `${name.padEnd(28)} ${runs} runs, ${alarmed} false alarms; ${tried} changes, ${missed} missed${why === '' ? '' : `: ${why}`}`,
    )
}

function wayOf({ era, transport, noise, profile }) {
  return `${era}, ${transport}, ${noise} noise${profile === 'with' ? ', with profile' : ''}`
}

function printTable(groups) {
  console.log(
    `${''.padEnd(48)}${['tried', 'found', 'named', 'missed'].map((word) => word.padStart(8)).join('')}`,
  )
  const rows = [...groups, ['all', [...groups.values()].flat()]]
  for (const [name, list] of rows) {
    const found = list.filter(({ isFound }) => isFound).length
    const named = list.filter(({ isNamed }) => isNamed).length
    const figures = [list.length, found, named, list.length - found]
    console.log(`${name.padEnd(48)}${figures.map((figure) => String(figure).padStart(8)).join('')}`)
  }
}

/** One line for each id, with the ways in which it was tried. */
function printList(title, results, verbose) {
  if (results.length === 0) return
  console.log(`\n${title}\n`)
  for (const [id, list] of groupBy(results, (result) => result.id)) {
    const ways = list.map(
      ({ era, transport, noise, profile }) =>
        `${era}/${transport}${noise === 'with' ? '/noise' : ''}${profile === 'with' ? '/profile' : ''}`,
    )
    console.log(`  ${id}: ${ways.join(', ')}`)
    if (verbose) for (const why of new Set(list.map((result) => result.why))) console.log(`    ${why}`)
  }
}

function groupBy(list, keyOf) {
  const groups = new Map()
  for (const item of list) {
    const key = keyOf(item)
    if (groups.has(key)) groups.get(key).push(item)
    else groups.set(key, [item])
  }
  return groups
}

function sum(list, name) {
  return list.reduce((total, item) => total + item[name], 0)
}
