// Plays an ordinary session with the server of lists: node shopper.mjs <server command…>
import { connect } from './client.mjs'

const { call, request, end } = await connect(process.argv.slice(2))
await request('tools/list', {})
for (const { name, fruits } of [
  { name: 'Saturday', fruits: ['apples', 'pears', 'plums'] },
  { name: 'Party', fruits: ['lemons', 'limes'] },
]) {
  const { list } = await call('create_list', { name })
  const items = []
  for (const fruit of fruits) items.push((await call('add_item', { list, name: fruit, quantity: 5 })).item)
  for (const item of items) await call('set_price', { list, item, price: 2.5 })
  await call('discount', { list, percent: 10 })
  await call('take', { list, item: items[0], quantity: 2 })
  await call('page', { list, from: 0 })
  await call('show', { list })
  await call('rename', { list, name: `${name} evening` })
  await call('export', { list })
  await call('remove_item', { list, item: items[1] })
  await call('page', { list, from: 1 })
  await call('close', { list })
}
end()
