import { Client } from '@modelcontextprotocol/sdk/client/index.js'

/** Labels the issues about a topic, the most discussed one as urgent. */
export async function triage(transport, topic) {
  const client = new Client({ name: 'triage-agent', version: '1.0.0' })
  await client.connect(transport)
  const call = async (name, args) => {
    const { content } = await client.callTool({ name, arguments: args })
    return JSON.parse(content[0].text)
  }
  try {
    const issues = await call('search_issues', { query: topic })
    const [urgent, ...others] = issues.toSorted((a, b) => b.comments - a.comments)
    await call('add_label', { id: urgent.id, label: 'urgent' })
    for (const { id } of others) await call('add_label', { id, label: 'later' })
    return urgent.title
  } finally {
    await client.close()
  }
}
