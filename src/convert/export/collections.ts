import { parseJson, type JsonObject } from '../../json/parse.ts'
import type { ExportFormat, ExportedTape } from './export-format.ts'
import { exportedSessions, type ExportedSession, type ExportedStep } from './requests.ts'
import { stepData, VALUES_RUNTIME } from './script-runtime.ts'
import { defaultUrl } from './scripts.ts'

/* Collections of API clients. A request carries a script that checks its response and keeps values for later requests. */

/** Postman 2.1, which newman runs too. */
export const postmanExport: ExportFormat = {
  name: 'postman',
  description: 'Postman collection 2.1, with tests, which newman runs',
  extension: '.postman_collection.json',
  write: (tape, losses) => {
    const sessions = exportedSessions(tape, losses, { answers: false })
    const collection = {
      info: {
        name: tape.name,
        description: collectionNote(tape),
        schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
      },
      variable: [{ key: 'mcp_url', value: defaultUrl(tape) }],
      item: sessions.map((session, index) => ({
        name: sessionName(session, index),
        item: session.steps.map((step, at) => postmanItem(step, at === 0)),
      })),
    }
    return `${JSON.stringify(collection, undefined, 2)}\n`
  },
}

function sessionName({ server }: ExportedSession, index: number): string {
  return `${server}, session ${index + 1}`
}

function collectionNote({ header }: ExportedTape): string {
  return `Made by ${header.by} from a tape that was recorded ${header.started}. Set mcp_url to the server; reelay serve <tape> --http 8080 is one.`
}

function postmanItem(step: ExportedStep, isFirst: boolean): JsonObject {
  const header = Object.entries({ ...POST_HEADERS, ...Object.fromEntries(step.headers) }).map(
    ([key, value]) => ({ key, value }),
  )
  return {
    name: step.title,
    event: [
      {
        listen: 'prerequest',
        script: { type: 'text/javascript', exec: prepareScript(step, isFirst, 'pm').split('\n') },
      },
      { listen: 'test', script: { type: 'text/javascript', exec: checkScript(step, 'pm').split('\n') } },
    ],
    request: {
      method: 'POST',
      header,
      body: { mode: 'raw', raw: '{{mcp_message}}', options: { raw: { language: 'json' } } },
      url: '{{mcp_url}}',
      description: step.message,
    },
  }
}

const POST_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }

/** Sets the message and the headers of the session before a request is sent. */
function prepareScript(step: ExportedStep, isFirst: boolean, client: string): string {
  const reset = isFirst
    ? `for (const key of ['mcp_session', 'mcp_version', 'mcp_values', 'mcp_carried']) ${client}.variables.unset(key)\n`
    : ''
  return `${stepSource(step)}
${VALUES_RUNTIME}
${reset}const values = JSON.parse(${client}.variables.get('mcp_values') || '{}')
${client}.variables.set('mcp_message', JSON.stringify(withValues(JSON.parse(step.send), step.uses || [], values)))
for (const [key, name] of [['mcp_session', 'Mcp-Session-Id'], ['mcp_version', 'MCP-Protocol-Version']]) {
  const value = ${client}.variables.get(key)
  if (value) ${client}.request.headers.upsert({ key: name, value })
}`
}

/** Checks the response, and keeps the session and values for later requests. */
function checkScript(step: ExportedStep, client: string): string {
  const status = `${client}.test(${JSON.stringify(`${step.title}: status`)}, () => { ${client}.expect(${client}.response.code).to.be.within(200, 299) })`
  const keepSession = `const session = ${client}.response.headers.get('Mcp-Session-Id')
if (session) ${client}.variables.set('mcp_session', session)`
  if (!step.isRequest) return `${keepSession}\n${status}`
  return `${stepSource(step)}
${VALUES_RUNTIME}
${keepSession}
const sent = JSON.parse(step.send)
const answer = messagesIn(${client}.response.text()).find(({ id, method }) => method === undefined && id === sent.id) || {}
if (sent.method === 'initialize' && answer.result) ${client}.variables.set('mcp_version', answer.result.protocolVersion)
const values = JSON.parse(${client}.variables.get('mcp_values') || '{}')
const carried = JSON.parse(${client}.variables.get('mcp_carried') || '[]')
for (const value of step.produces || []) {
  const live = readValue(answer, value)
  if (live === undefined) continue
  values[value.name] = live
  carried.push({ recorded: value.recorded, live })
}
${client}.variables.set('mcp_values', JSON.stringify(values))
${client}.variables.set('mcp_carried', JSON.stringify(carried))
${
  step.expected === undefined
    ? status
    : `${client}.test(${JSON.stringify(step.title)}, () => {
  ${client}.expect(canonical(answer[step.expect.name])).to.equal(canonical(expectedNow(step.expect.value, carried)))
})`
}`
}

function stepSource(step: ExportedStep): string {
  return `const step = ${stepData(step)}`
}

/** Insomnia's export of version 4, whose scripts use the same names as Postman's. */
export const insomniaExport: ExportFormat = {
  name: 'insomnia',
  description: 'Insomnia collection (export format 4), with tests',
  extension: '.insomnia.json',
  write: (tape, losses) => {
    const sessions = exportedSessions(tape, losses, { answers: false })
    const workspace = {
      _id: 'wrk_reelay',
      _type: 'workspace',
      parentId: null,
      name: tape.name,
      description: collectionNote(tape),
      scope: 'collection',
    }
    const environment = {
      _id: 'env_reelay',
      _type: 'environment',
      parentId: 'wrk_reelay',
      name: 'Base Environment',
      data: { mcp_url: defaultUrl(tape) },
    }
    const resources = [
      workspace,
      environment,
      ...sessions.flatMap((session, index) => insomniaSession(session, index)),
    ]
    const document = {
      _type: 'export',
      __export_format: 4,
      __export_date: tape.header.started,
      __export_source: tape.header.by,
      resources,
    }
    return `${JSON.stringify(document, undefined, 2)}\n`
  },
}

function insomniaSession(session: ExportedSession, index: number): readonly JsonObject[] {
  const folder = `fld_reelay_${index + 1}`
  const group = {
    _id: folder,
    _type: 'request_group',
    parentId: 'wrk_reelay',
    name: sessionName(session, index),
    metaSortKey: index,
  }
  const requests = session.steps.map((step, at) => ({
    _id: `req_reelay_${index + 1}_${at + 1}`,
    _type: 'request',
    parentId: folder,
    name: step.title,
    description: JSON.stringify(parseJson(step.message), undefined, 2),
    method: 'POST',
    url: '{{ _.mcp_url }}',
    headers: Object.entries({ ...POST_HEADERS, ...Object.fromEntries(step.headers) }).map(
      ([name, value]) => ({ name, value }),
    ),
    body: { mimeType: 'application/json', text: step.message },
    preRequestScript: insomniaPrepare(step, at === 0),
    afterResponseScript: checkScript(step, 'insomnia'),
    metaSortKey: at,
  }))
  return [group, ...requests]
}

function insomniaPrepare(step: ExportedStep, isFirst: boolean): string {
  return `${prepareScript(step, isFirst, 'insomnia')}
insomnia.request.body.update({ mode: 'raw', raw: insomnia.variables.get('mcp_message') })`
}
