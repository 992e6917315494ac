import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { attach } from '../support/control.ts'
import { httpOf, listening } from '../support/http-servers.ts'
import { linesOf, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'
import { clientOf, SDKS, stdioOf, type AnyClient, type Sdk } from '../support/sdk.ts'
import { referenceServer } from './reference-server.ts'

// The times of a real session, scaled down: a client that waits 2 s instead of 60 s, and a hold of 4 s instead of 90 s.
const CLIENT_TIMEOUT = 2000
const HOLD = 4000

beforeEach(() => {
  process.env['REELAY_HOME'] = temporaryFolder()
})

interface Opened {
  readonly client: AnyClient
  readonly tape: string
}

type Open = (sdk: Sdk, ...options: string[]) => Promise<Opened>

const stdio: Open = async (sdk, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const command = [process.execPath, REELAY, 'record', '-o', tape, ...INTERCEPT, ...options, '--']
  const env = process.env as Record<string, string>
  return opened(sdk, stdioOf(sdk, [...command, ...referenceServer('server-everything', 'stdio')], env), tape)
}

const http: Open = async (sdk, ...options) => {
  const tape = join(temporaryFolder(), 'session.tape.jsonl')
  const origin = await listening(referenceServer('server-everything', 'streamableHttp'))
  const run = start([
    process.execPath,
    REELAY,
    'record',
    '-o',
    tape,
    '--url',
    `${origin}/mcp`,
    ...INTERCEPT,
    ...options,
  ])
  const given = (): string | undefined => /client: (http\S+)/.exec(run.stderr())?.[1]
  await until(() => given() !== undefined)
  return opened(sdk, httpOf(sdk, 'streamableHttp', given() ?? ''), tape)
}

const INTERCEPT = ['--intercept', 'tool:echo dir:c2s']

async function opened(
  sdk: Sdk,
  transport: Parameters<AnyClient['connect']>[0],
  tape: string,
): Promise<Opened> {
  const client = clientOf(sdk, { answers: { root: '/', elicited: {} } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, tape }
}

/** Calls `echo`, with the patience of a client. */
function echo(client: AnyClient, options: object): Promise<unknown> {
  const params = { name: 'echo', arguments: { message: 'still there' } }
  const patience = { timeout: CLIENT_TIMEOUT, ...options }
  return client instanceof ClientV1
    ? client.callTool(params, undefined, patience)
    : client.callTool(params, patience)
}

describe.each([
  ['stdio', stdio],
  ['HTTP', http],
] as const)('a held call over %s', (_, open) => {
  test.each(SDKS)('outlives the timeout of a client of SDK %s that resets it on progress', async (sdk) => {
    const { client, tape } = await open(sdk, '--hold-limit', '10s')
    const user = await attach(tape)
    const progress: object[] = []
    const answer = echo(client, {
      onprogress: (one: object) => progress.push(one),
      resetTimeoutOnProgress: true,
    })
    const { key } = await user.held()
    setTimeout(() => void user.command('forward', { key }), HOLD)
    expect(JSON.stringify(await answer)).toContain('still there')
    expect(progress.length).toBeGreaterThanOrEqual(3)
  })

  test.each(SDKS)('fails with a clear error for a client of SDK %s that does not wait', async (sdk) => {
    const { client, tape } = await open(sdk, '--hold-limit', '10s')
    const user = await attach(tape)
    const failure = echo(client, {}).catch(String)
    await user.held()
    expect(await failure).toMatch(/timed out/i)
    await until(() => linesOf(tape).some(({ action, why }) => action === 'drop' && why === 'cancelled'))
  })

  test.each(SDKS)(
    'is released before the limit of a client of SDK %s, and the reason is in its error',
    async (sdk) => {
      const { client, tape } = await open(sdk, '--hold-limit', '1s', '--on-limit', 'error')
      await attach(tape)
      expect(await echo(client, {}).catch(String)).toMatch(
        /held by --intercept, and nobody decided within 1 s/,
      )
    },
  )
})
