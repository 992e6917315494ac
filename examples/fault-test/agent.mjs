import { Client } from '@modelcontextprotocol/sdk/client/index.js'

/** Reads the weather, and tries once more if the server fails. */
export async function report(transport, city) {
  const client = new Client({ name: 'weather-agent', version: '1.0.0' })
  await client.connect(transport)
  const ask = () => client.callTool({ name: 'weather', arguments: { city } })
  try {
    const { content } = await ask().catch(ask)
    return content[0].text
  } catch (error) {
    return `no weather for ${city}: ${error.message}`
  } finally {
    await client.close()
  }
}
