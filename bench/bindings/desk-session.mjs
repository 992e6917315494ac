// A second set, written before bindings were tried on it: a day at a desk, in the styles of many servers.
import { carried } from './client.mjs'

const said = (result, part = 0) => result.content[part].text
const value = (result, part = 0) => JSON.parse(said(result, part))

export async function desk({ call, request }) {
  await request('tools/list')
  await chat(call)
  await code(call)
  await calendar(call)
  await tables(call)
  await shop(call)
  await pages(call)
  await documents(call)
}

async function chat(call) {
  const posted = value(
    await call('slack_post_message', { channel: '#general', text: 'Good morning', unfurl: false }),
  )
  await call('slack_reply', {
    channel: carried(posted.channel),
    thread_ts: carried(posted.ts),
    text: 'and again',
  })
  await call('slack_add_reaction', {
    channel: carried(posted.channel),
    timestamp: carried(posted.ts),
    name: 'wave',
  })
  const { user } = value(await call('slack_get_user', { email: 'ada@example.com' }))
  await call('slack_post_message', {
    channel: carried(user.id),
    text: carried(`hello <@${user.id}>, welcome`),
  })
}

async function code(call) {
  const pull = value(
    await call('createPullRequest', { owner: 'acme', repo: 'site', title: 'Fix a typo', head: 'fix-typo' }),
  )
  await call('getStatus', { owner: 'acme', repo: 'site', ref: carried(pull.head.sha) })
  const args = { owner: 'acme', repo: 'site', pullNumber: carried(pull.number), method: 'squash' }
  await call('mergePullRequest', args)
  const [, build, deploy] = /ID: (\d+)[^]*ID: (\d+)/.exec(said(await call('listWorkflows', { repo: 'site' })))
  await call('runWorkflow', { workflowId: carried(Number(deploy)), branch: 'main', retries: 2 })
  const run = said(await call('runWorkflow', { workflowId: carried(build), branch: 'main' }))
    .split('/')
    .at(-1)
  await call('cancelRun', { runId: carried(run), reason: 'too slow' })
}

async function calendar(call) {
  const [slot] = value(
    await call('calendar.find_slot', { minutes: 30, attendees: ['ada@example.com'] }),
  ).slots
  const made = await call('calendar.create_event', { start: carried(slot.start), minutes: 30, title: 'Tea' })
  const { event } = made.structuredContent
  await call('calendar.update_event', {
    eventId: carried(event.eventId),
    ifMatch: carried(event.etag),
    status: 'tentative',
  })
  await call('calendar.update_event', { eventId: carried(event.eventId), status: 'confirmed', color: 3 })
}

async function tables(call) {
  const found = value(await call('query_db', { sql: 'select id, name from people limit 2', timeout: 30 }))
  await call('fetch_more', { query_id: carried(found.query_id), limit: 100, offset: 2 })
  const id = Number(
    /id (\d+)/.exec(said(await call('insert_record', { table: 'people', values: { name: 'gamma' } })))[1],
  )
  await call('delete_record', { table: 'people', record_id: carried(id), cascade: false })
}

async function shop(call) {
  const { checkout } = value(
    await call('start_checkout', { sku: 'rose-red', quantity: 2, currency: 'EUR' }),
  ).data
  await call('add_line', {
    checkoutId: carried(checkout.id),
    variantId: carried(checkout.lineItems[0].variantId),
    quantity: 2,
  })
  await call('complete_checkout', { checkoutId: carried(checkout.id), email: 'ada@example.com', tip: 0 })
}

async function pages(call) {
  const page = said(await call('browser_navigate', { url: 'https://example.com/login' }))
  const [, button, box] = /ref=(\w+)[^]*ref=(\w+)/.exec(page)
  await call('browser_type', { element: 'Name', ref: carried(box), text: 'ada', slowly: true })
  await call('browser_click', { element: 'Sign in', ref: carried(button), clicks: 1 })
}

async function documents(call) {
  const { file_id: file } = value(await call('upload_file', { name: 'roses.txt', purpose: 'search' }), 1)
  await call('summarize', { file: carried(file), words: 50, tone: 'short' })
  const [first, second] = value(await call('vector_search', { query: 'roses', top_k: 2 })).matches
  const { revision } = value(await call('open_document', { id: carried(second.doc_id), lang: 'cs' }))
  await call('edit_document', {
    id: carried(second.doc_id),
    revision: carried(revision),
    text: 'Roses are red',
  })
  await call('open_document', { id: carried(first.doc_id), view: 'summary' })
  const [, sandbox, port] = /ID=(\S+)\nPORT=(\d+)/.exec(
    said(await call('create_sandbox', { image: 'node:22', memory: 512 })),
  )
  await call('exec', { sandbox: carried(sandbox), command: 'npm test', port: carried(Number(port)) })
  await call('exec', {
    sandbox: carried(sandbox),
    command: carried(`curl http://localhost:${port}/health`),
    port: 8080,
  })
}
