// Calls tools one after the other: node caller.mjs <JSON list of [tool, arguments]> <server command…>
import { connect } from './client.mjs'

const [calls, ...command] = process.argv.slice(2)
const { call, request, end } = await connect(command)
await request('tools/list', {})
for (const [name, given] of JSON.parse(calls)) await call(name, given)
end()
