// What every driver does: it takes an order as JSON, and prints the names of the tools and the texts of the results.

/** `connect` takes `{ transport, command, env, url }` and returns `{ list, call, close }`. */
export async function answer(connect) {
  const { tasks, ...target } = JSON.parse(process.argv[2])
  const client = await connect(target)
  const answers = []
  for (const { tool, args } of tasks)
    answers.push(
      tool === undefined ? (await client.list()).toSorted() : textOf(await client.call(tool, args)),
    )
  await client.close()
  console.log(JSON.stringify(answers))
  process.exit(0) // some frameworks keep timers
}

function textOf(content) {
  return content
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('')
}
