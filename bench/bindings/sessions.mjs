// Sessions whose client says which values it carries over from an answer: that is the truth that bindings are judged by.
import { carried } from './client.mjs'

const inText = (result, pattern) => pattern.exec(result.content[0].text)[1]
const inJson = (result) => JSON.parse(result.content[0].text)
const inDays = (days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

/** A value of every shape, and beside each the values that only look like one. */
export async function handles({ call, request }) {
  await request('tools/list')
  await issues(call)
  await texts(call)
  await nested(call)
  await pagesOf(call, request)
  await composites(call)
  await lookalikes(call)
  await rounds(call, request)
  await offices(call)
}

async function issues(call) {
  await call('search', { query: 'login fails', limit: 10, page: 1, sort: 'asc', status: 'open', fuzzy: true })
  const { issue } = (await call('create_issue', { title: 'Login fails', labels: ['bug'], priority: 3 }))
    .structuredContent
  await call('get_issue', { issueId: carried(issue.id), include: 'labels', depth: 1 })
  await call('add_comment', { issue_number: carried(issue.number), body: 'It fails for me too' })
  const again = (await call('create_issue', { title: 'Second', status: 'open' })).structuredContent
  await call('get_issue', { issueId: carried(again.issue.id), votes: 10, state: 'open' })
  await call('get_issue', { issueId: carried(issue.id), format: 'json' })
}

async function texts(call) {
  const comment = inText(await call('add_comment', { issue_number: 99, body: 'one more' }), /comment (\w+)/)
  await call('edit_comment', { commentId: carried(comment), body: 'one more, edited' })
  const [, first, second] = /- (\w+)[^-]*- (\w+)/.exec(
    (await call('list_comments', { author: 'ada' })).content[0].text,
  )
  await call('edit_comment', { commentId: carried(second), body: 'by eve' })
  await call('edit_comment', { commentId: carried(first), body: carried(`see ${second} as well`) })
  const upload = inText(await call('start_upload', { name: 'photo.png', bytes: 2048 }), /upload (\w+)/)
  await call('finish_upload', { upload: carried(upload), checksum: 'd41d8cd98f00b204' })
  const [, issue, token] = /issues\/(\w+)\?token=(\w+)/.exec((await call('get_link', {})).content[0].text)
  await call('redeem', { issue: carried(issue), token: carried(token) })
  await call('redeem', { url: carried(`https://tracker.test/issues/${issue}`), method: 'GET' })
}

async function nested(call) {
  const { job } = JSON.parse(inJson(await call('submit_job', { script: 'build', queue: 'default' })).payload)
  await call('poll_job', { job: carried(job.ref), wait: 5 })
  await call('poll_job', { job: carried(job.ref), percent: 50 })
  const { session } = inJson(await call('open_session', { shell: 'bash' }))
  await call('run_in_session', { session: carried(session), command: 'ls -la', timeout: 30 })
  const { sid } = JSON.parse(Buffer.from(session, 'base64url'))
  await call('inspect_session', { sid: carried(sid), exit_code: 0 })
  await call('run_in_session', { session: carried(session), command: carried(`attach ${sid}`) })
}

async function pagesOf(call, request) {
  const one = await request('resources/list')
  const two = await request('resources/list', { cursor: carried(one.nextCursor) })
  const three = await request('resources/list', { cursor: carried(two.nextCursor) })
  await request('resources/read', { uri: carried(one.resources[0].uri) })
  const { contents } = await request('resources/read', { uri: carried(three.resources[0].uri) })
  await call('search', { query: carried(contents[0].text), limit: 20 })
  const rows = inJson(await call('list_rows', { table: 'people', limit: 3 }))
  await call('list_rows', { table: 'people', limit: 3, offset: carried(rows.nextOffset) })
  const events = inJson(await call('list_events', { kind: 'login' }))
  await call('list_events', { kind: 'login', cursor: carried(events.next_cursor) })
}

async function composites(call) {
  const { project, board } = (await call('create_project', { template: 'kanban' })).structuredContent
  await call('move_card', { card: carried(`${project.key}/${board.id}`), column: 'done', position: 1 })
  await call('move_card', { card: carried(`${project.key}:${board.id}`), column: 'review', position: 2 })
  await call('create_issue', { title: 'In a project', projectKey: carried(project.key) })
  const { lat, lon, country } = (await call('geocode', { place: 'Ostrava' })).structuredContent
  await call('forecast', { latitude: carried(lat), longitude: carried(lon), units: 'metric', days: 3 })
  await call('forecast', { latitude: carried(lat), longitude: carried(lon), units: 'metric', days: 7 })
  void country
  const report = (await call('write_report', { month: '2026-10' })).content[1].uri
  await call('search', { query: carried(report.split('/').at(-1)), limit: 10 })
  const [user] = (await call('find_user', { query: 'ada' })).structuredContent.users
  await call('invite', { userId: carried(user.id), role: 'admin', message: 'Welcome aboard' })
  await call('invite', { login: carried(user.login), role: 'viewer' })
}

async function lookalikes(call) {
  await call('set_reminder', { on: carried(inDays(7)), text: 'call ada', hour: 9 })
  await call('set_reminder', { on: '2031-02-17', text: 'far away', hour: 10 })
  await call('set_reminder', { on: carried(inDays(0)), repeat: 'weekly', hour: 11 })
  await call('search', { query: 'bug', limit: 100, page: 2, sort: 'desc', status: 'closed', fuzzy: false })
  await call('search', { query: 'default', limit: 50, page: 1, took: 12 })
  const { booking } = inJson(await call('book_room', { room: 'blue', people: 4 }))
  await call('cancel_booking', { bookingId: carried(booking.id), reason: 'we moved', fee: 0 })
  await call('search', { query: 'open issues of ada', limit: 10, country: 'CZ', role: 'admin' })
}

async function rounds(call, request) {
  const asked = await call('deploy', { env: 'production' })
  const [key] = Object.keys(asked.inputRequests)
  const answered = await request('tools/call', {
    name: 'deploy',
    arguments: { env: 'production' },
    inputResponses: { [key]: { action: 'accept', content: { ok: true } } },
    requestState: carried(asked.requestState),
  })
  await call('roll_back', { release: carried(inText(answered, /release (\w+)/)), force: false })
  const { task } = await request('tools/call', {
    name: 'crunch',
    arguments: { size: 1000 },
    task: { ttl: 60000 },
  })
  await request('tasks/get', { taskId: carried(task.taskId) })
  const done = await request('tasks/result', { taskId: carried(task.taskId) })
  await call('search', { query: carried(inText(done, /is (\w+)/)), limit: 5 })
}

async function offices(call) {
  const { id } = (await call('create_row', { table: 'people', values: ['ada', '36'] })).structuredContent
  await call('update_row', {
    id: carried(id),
    table: 'people',
    version: '1.2.3',
    region: 'eu-west-1',
    retries: 3,
  })
  const next = (await call('create_row', { table: 'people', values: ['eve', '41'] })).structuredContent
  await call('update_row', { row_id: carried(next.id), limit: 4, count: 4, quantity: 10 })
  const [branch] = (await call('list_branches', { repo: 'acme/site' })).structuredContent.branches
  await call('checkout', { branch: carried(branch.name), depth: 1 })
  const { author } = (await call('get_commit', { sha: carried(branch.sha), repo: 'acme/site' }))
    .structuredContent
  await call('send_mail', { to: carried(author.email), subject: 'Thank you', priority: 'high', copies: 3 })
  const file = inText(await call('list_folder', { path: 'docs' }), /(notes-\S+)/)
  await call('read_file', { path: carried(`docs/${file}`), encoding: 'utf-8', head: 10 })
  const [, order, other] = /(ORD-\d+)[^O]*(ORD-\d+)/.exec(
    (await call('list_orders', { state: 'open' })).content[0].text,
  )
  const { lines, updated_at: updated } = inJson(
    await call('get_order', { order: carried(order), currency: 'EUR' }),
  )
  await call('get_order', { order: carried(other), color: '#ff0000', year: 2026 })
  await call('list_changes', { since: carried(updated), sku: carried(lines[0].sku), quantity: 2 })
  const [, ticket, number] = /(T-\d+) .*#(\d+)/.exec(
    (await call('file_ticket', { text: 'broken' })).content[0].text,
  )
  await call('get_ticket', {
    ticketId: carried(ticket),
    severity: 'high',
    language: 'en',
    model: 'gpt-4o-mini',
  })
  await call('get_order', { orderId: carried(Number(number)), page: 1, size: 10 })
  await call('get_order', { order: carried(String(number)), page: 2, size: 100 })
  const token = inText(await call('charge', { amount: 1000, currency: 'EUR' }), /token (\w+)/)
  const { receipt } = inJson(
    await call('charge', { amount: 1000, currency: 'EUR', retry_token: carried(token) }),
  )
  await call('send_mail', { to: 'bob@example.com', subject: carried(`Receipt ${receipt}`), priority: 'low' })
}

/** server-everything: links, static resources, tasks; and what the client makes up. */
export async function everything({ call, request }) {
  const { resources } = await request('resources/list')
  await request('resources/read', { uri: carried(resources[0].uri) })
  await request('resources/read', { uri: carried(resources[2].uri) })
  await request('resources/read', { uri: 'demo://resource/dynamic/text/7' })
  const links = (await call('get-resource-links', { count: 3 })).content.filter(({ uri }) => uri)
  await request('resources/read', { uri: carried(links[0].uri) })
  await call('get-sum', { a: 2, b: 3 })
  await call('echo', { message: 'hello again' })
  await call('get-structured-content', { location: 'Chicago' })
  await call('get-annotated-message', { messageType: 'error', includeImage: false })
  await request('prompts/get', { name: 'args-prompt', arguments: { city: 'Ostrava' } })
  const { task } = await request('tools/call', {
    name: 'simulate-research-query',
    arguments: { topic: 'roses' },
    task: { ttl: 60000 },
  })
  await request('tasks/get', { taskId: carried(task.taskId) })
  await request('tasks/result', { taskId: carried(task.taskId) })
}

/** server-memory: nearly all values are the client's own. */
export async function memory({ call, request }) {
  await request('tools/list')
  const { resources } = await request('resources/list')
  await request('resources/read', { uri: carried(resources[0].uri) })
  await call('create_entities', {
    entities: [
      { name: 'Ada', entityType: 'person', observations: ['likes engines'] },
      { name: 'Engine', entityType: 'machine', observations: [] },
    ],
  })
  await call('create_relations', { relations: [{ from: 'Ada', to: 'Engine', relationType: 'programs' }] })
  await call('read_graph', {})
  await call('search_nodes', { query: 'engines' })
  await call('open_nodes', { names: ['Engine', 'Ada'] })
  await call('add_observations', { observations: [{ entityName: 'Ada', contents: ['was born in London'] }] })
  await call('delete_entities', { entityNames: ['Engine'] })
}

/** server-filesystem: the folder is told by the server, names are partly found. */
export async function filesystem({ call, request }) {
  await request('tools/list')
  const folder = (await call('list_allowed_directories', {})).content[0].text.split('\n')[1]
  await call('write_file', { path: carried(`${folder}/poem.txt`), content: 'rosa\nmundi\n' })
  await call('list_directory', { path: carried(folder) })
  const found = (
    await call('search_files', { path: carried(folder), pattern: '*.md' })
  ).content[0].text.split('\n')
  await call('read_text_file', { path: carried(found[0]) })
  await call('read_text_file', { path: carried(`${folder}/poem.txt`), head: 1 })
  await call('edit_file', {
    path: carried(`${folder}/poem.txt`),
    edits: [{ oldText: 'mundi', newText: 'mystica' }],
  })
  await call('get_file_info', { path: carried(found[0]) })
}
