import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { fixtureServer, REELAY } from '../support/recorder.ts'

type Call = (name: string, args?: object) => Promise<{ text: string; structured: Structured }>

interface Structured {
  readonly issue: { readonly id: string; readonly number: number }
  readonly project: { readonly key: string }
  readonly board: { readonly id: string }
  readonly users: readonly [{ readonly id: number }]
  readonly task: { readonly taskId: string }
}

/** Records a session that sends back a value of every shape. */
export async function recordStrictHandles(tape: string): Promise<void> {
  const client = new Client({ name: 'user', version: '1' })
  const args = [REELAY, 'record', '-q', '-o', tape, '--', ...fixtureServer('strict-handles')]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  const call: Call = async (name, given = {}) => {
    const { content, structuredContent } = await client.callTool({ name, arguments: { ...given } })
    const [first] = content as readonly { text?: string }[]
    return { text: first?.text ?? '', structured: structuredContent as unknown as Structured }
  }
  await ids(call)
  await texts(call)
  await pages(client)
  await client.close()
}

async function ids(call: Call): Promise<void> {
  const { issue } = (await call('create_issue')).structured
  await call('get_issue', { issueId: issue.id })
  const comment = /comment (\w+)/.exec((await call('add_comment', { issue_number: issue.number })).text)?.[1]
  await call('edit_comment', { commentId: comment })
  const [user] = (await call('find_user')).structured.users
  await call('invite', { userId: user.id })
  const { task } = (await call('crunch')).structured
  await call('task_result', { taskId: task.taskId })
}

async function texts(call: Call): Promise<void> {
  const { payload } = JSON.parse((await call('submit_job')).text) as { payload: string }
  await call('poll_job', { job: (JSON.parse(payload) as { job: { ref: string } }).job.ref })
  const { session } = JSON.parse((await call('open_session')).text) as { session: string }
  await call('run_in_session', { session })
  const { sid } = JSON.parse(Buffer.from(session, 'base64url').toString()) as { sid: string }
  await call('inspect_session', { sid })
  const { project, board } = (await call('create_project')).structured
  await call('move_card', { card: `${project.key}/${board.id}` })
}

async function pages(client: Client): Promise<void> {
  let cursor: string | undefined
  do {
    const { resources, nextCursor } = await client.listResources(cursor === undefined ? {} : { cursor })
    await client.readResource({ uri: resources[0]?.uri ?? '' })
    cursor = nextCursor
  } while (cursor !== undefined)
}
