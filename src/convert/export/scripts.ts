import type { ExportFormat, ExportedTape, Losses } from './export-format.ts'
import { exportedSessions, type ExportedSession } from './requests.ts'
import { FETCH_RUNTIME, js, stepData, VALUES_RUNTIME } from './script-runtime.ts'

/* Tests and load scripts. Each sends the recorded messages over HTTP, carries values, and compares every response. */

/** How a test framework spells a test. */
interface TestSyntax {
  readonly imports: string
  /** Begins the tests of one session. The steps need each other, so the framework has to keep their order. */
  readonly group: (title: string, body: string) => string
  readonly test: (title: string, body: string) => string
  readonly assertEqual: (actual: string, expected: string) => string
}

export const nodeTestExport: ExportFormat = testFormat('node-test', '.test.mjs', 'tests for node --test', {
  imports: `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n`,
  group: (title, body) => `test(${title}, async (t) => {\n${body}})\n`,
  test: (title, body) => `await t.test(${title}, async () => {\n${body}})`,
  assertEqual: (actual, expected) => `assert.deepEqual(${actual}, ${expected})`,
})

export const vitestExport: ExportFormat = testFormat('vitest', '.vitest.test.mjs', 'tests for Vitest', {
  imports: `import { describe, expect, test } from 'vitest'\n`,
  group: (title, body) => `describe.sequential(${title}, () => {\n${body}})\n`,
  test: (title, body) => `test(${title}, async () => {\n${body}})`,
  assertEqual: (actual, expected) => `expect(${actual}).toEqual(${expected})`,
})

export const playwrightExport: ExportFormat = testFormat(
  'playwright',
  '.spec.mjs',
  'tests for Playwright Test',
  {
    imports: `import { expect, test } from '@playwright/test'\n`,
    group: (title, body) => `test.describe.serial(${title}, () => {\n${body}})\n`,
    test: (title, body) => `test(${title}, async () => {\n${body}})`,
    assertEqual: (actual, expected) => `expect(${actual}).toEqual(${expected})`,
  },
)

function testFormat(name: string, extension: string, description: string, syntax: TestSyntax): ExportFormat {
  return {
    name,
    description: `${description}, which send the session and check every response`,
    extension,
    write: (tape, losses) => {
      const sessions = exportedSessions(tape, losses, { answers: true })
      return `${scriptHead(tape, 'MCP_URL=<url>')}
${syntax.imports}
const URL_OF_SERVER = process.env.MCP_URL ?? ${js(defaultUrl(tape))}
${VALUES_RUNTIME}${FETCH_RUNTIME}
${sessions.map((session, index) => sessionTests(session, index, syntax)).join('\n')}`
    },
  }
}

function sessionTests(session: ExportedSession, index: number, syntax: TestSyntax): string {
  const steps = session.steps.map((step, at) => {
    const check =
      step.expected === undefined
        ? ''
        : `    ${syntax.assertEqual('answer[step.expect.name]', 'session.expected(step)')}\n`
    const body = `    const step = steps[${at}]\n    ${check === '' ? '' : 'const answer = '}await session.send(step)\n${check}  `
    return `  ${syntax.test(js(step.title), body)}\n`
  })
  const data = session.steps.map(stepData).join(',\n    ')
  const head = `  const session = new Session()\n  const steps = [\n    ${data},\n  ]\n`
  return syntax.group(js(`${session.server}, session ${index + 1}`), `${head}${steps.join('')}`)
}

/** The first lines of a script. */
function scriptHead({ name, header }: ExportedTape, usage: string): string {
  return [
    commentLine(`Made by ${header.by} from the tape ${name}, recorded ${header.started}.`),
    commentLine(`It sends the recorded messages to a server over HTTP. Choose the server with ${usage};`),
    commentLine('to try it without one: reelay serve <tape> --http 8080'),
  ].join('\n')
}

function commentLine(text: string): string {
  return `// ${text.replaceAll(/[\r\n\u2028\u2029]/g, ' ')}`
}

/** The address of the recorded server, or that of `reelay serve`. */
export function defaultUrl({ header }: ExportedTape): string {
  const url = Object.values(header.servers).find((server) => server.url !== undefined)?.url
  return url ?? 'http://127.0.0.1:8080/mcp'
}

/** k6: each iteration plays the sessions. The rate of iterations is that of the recording, unless it is set. */
export const k6Export: ExportFormat = {
  name: 'k6',
  description: 'load script for k6: sessions, carried values, checks, thresholds and an arrival rate',
  extension: '.k6.js',
  write: (tape, losses) => {
    const sessions = exportedSessions(tape, losses, { answers: false })
    return `${scriptHead(tape, '-e MCP_URL=<url>')}
// More options: -e RATE=<sessions a second> -e DURATION=<30s> -e VUS=<virtual users>
import http from 'k6/http'
import { check, group } from 'k6'

const URL_OF_SERVER = __ENV.MCP_URL || ${js(defaultUrl(tape))}

export const options = {
  scenarios: {
    sessions: {
      executor: 'constant-arrival-rate',
      rate: Number(__ENV.RATE || 1),
      timeUnit: '1s',
      duration: __ENV.DURATION || '10s',
      preAllocatedVUs: Number(__ENV.VUS || 10),
    },
  },
  thresholds: {
    checks: ['rate==1'],
    http_req_failed: ['rate==0'],
  },
}

const SESSIONS = [
${sessions.map(({ server, steps }) => `  { server: ${js(server)}, steps: [\n    ${steps.map(stepData).join(',\n    ')},\n  ] },`).join('\n')}
]
${VALUES_RUNTIME}
export default function () {
  for (const { server, steps } of SESSIONS) group(server, () => playSession(steps))
}

function playSession(steps) {
  const values = {}
  const carried = []
  let headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
  for (const step of steps) {
    const message = withValues(JSON.parse(step.send), step.uses || [], values)
    const response = http.post(URL_OF_SERVER, JSON.stringify(message), {
      headers: Object.assign({}, headers, step.headers),
      tags: { name: step.title.replace(/^#\\d+ /, '') },
    })
    const session = response.headers['Mcp-Session-Id']
    if (session) headers = Object.assign({}, headers, { 'Mcp-Session-Id': session })
    if (step.notification) {
      check(response, { [step.title]: ({ status }) => status >= 200 && status < 300 })
      continue
    }
    const answer = messagesIn(response.body).find(({ id, method }) => method === undefined && id === message.id) || {}
    if (message.method === 'initialize' && answer.result)
      headers = Object.assign({}, headers, { 'MCP-Protocol-Version': answer.result.protocolVersion })
    for (const value of step.produces || []) {
      const live = readValue(answer, value)
      if (live === undefined) continue
      values[value.name] = live
      carried.push({ recorded: value.recorded, live })
    }
    if (step.expect)
      check(answer, {
        [step.title]: (found) => canonical(found[step.expect.name]) === canonical(expectedNow(step.expect.value, carried)),
      })
  }
}
`
  },
}

/** A shell script with curl and jq: sessions, checks of every response, and carried values that are members of a result. */
export const curlExport: ExportFormat = {
  name: 'curl',
  description: 'shell script with curl and jq, which checks every response',
  extension: '.sh',
  write: (tape, losses) => {
    const sessions = exportedSessions(tape, losses, { answers: false })
    const body = sessions.map((session) => curlSession(session, losses)).join('\n')
    return `#!/bin/sh
${scriptHead(tape, 'MCP_URL=<url>').replaceAll('//', '#')}
# It needs curl and jq. The exit code is the number of responses that differ.
url=\${MCP_URL:-${shellQuote(defaultUrl(tape))}}
head=$(mktemp) body=$(mktemp)
trap 'rm -f "$head" "$body"' EXIT
failed=0

# send <title> <message> [header…]: prints the response, which is the last message of a stream of events.
send() {
  title=$1 message=$2
  shift 2
  printf '%s' "$message" | curl -sS -D "$head" -o "$body" "$url" -H 'Content-Type: application/json' \\
    -H 'Accept: application/json, text/event-stream' \${session:+-H "Mcp-Session-Id: $session"} \\
    \${version:+-H "MCP-Protocol-Version: $version"} "$@" --data-binary @-
  found=$(sed -n 's/^[Mm][Cc][Pp]-[Ss]ession-[Ii]d: *//p' "$head" | tr -d '\\r')
  session=\${found:-$session}
  if grep -q '^data:' "$body"; then
    answer=$(sed -n 's/^data: *//p' "$body" | tr -d '\\r' | grep '^{' | jq -c 'select(has("method") | not)' | tail -n 1)
  else
    answer=$(cat "$body")
  fi
}

# expect <result or error> <value>
expect() {
  if printf '%s' "$answer" | jq -e --argjson expected "$2" ".$1 == \\$expected" > /dev/null 2>&1; then
    echo "ok $title"
  else
    echo "not ok $title"
    echo "  expected: $2"
    echo "  answer:   $answer"
    failed=$((failed + 1))
  fi
}
${body}
exit "$failed"
`
  },
}

function curlSession({ server, steps }: ExportedSession, losses: Losses): string {
  const lines = steps.flatMap((step) => {
    const uses = step.uses.filter(({ name }) => isShellValue(steps, name))
    losses.count('bindings', step.uses.length - uses.length)
    const message = uses.reduce(
      (text, { name, recorded }) => text.replaceAll(shellEscape(recorded), `'"$${name}"'`),
      shellQuote(step.message.trim()),
    )
    const headers = step.headers.map(([name, value]) => ` -H ${shellQuote(`${name}: ${value}`)}`).join('')
    const expected = step.expected && withShellValues(steps, step.expected.json)
    return [
      `send ${shellQuote(step.title)} ${message}${headers}`,
      ...(step.method === 'initialize'
        ? [`version=$(printf '%s' "$answer" | jq -r '.result.protocolVersion // empty')`]
        : []),
      ...step.produces
        .filter(({ name }) => isShellValue(steps, name))
        .map(({ name, path }) => `${name}=$(printf '%s' "$answer" | jq -r ${shellQuote(jqPath(path))})`),
      ...(step.expected === undefined ? [] : [`expect ${step.expected.name} ${expected}`]),
    ]
  })
  const values = steps
    .flatMap(({ produces }) => produces)
    .filter(({ name }) => isShellValue(steps, name))
    .map(({ name, recorded }) => `${name}=${shellQuote(recorded)}\n`)
  return `\n# ${server.replaceAll(/[\r\n]/g, ' ')}\nsession= version=\n${values.join('')}${lines.join('\n')}\n`
}

/** Values within texts need more than jq and a shell can do in a line. */
function isShellValue(steps: ExportedSession['steps'], name: string): boolean {
  return steps.some(({ produces }) =>
    produces.some(
      (value) => value.name === name && value.inside.length === 0 && value.recorded.length >= MIN_SHELL_VALUE,
    ),
  )
}

const MIN_SHELL_VALUE = 6

function withShellValues(steps: ExportedSession['steps'], json: string): string {
  const produced = steps.flatMap(({ produces }) => produces).filter(({ name }) => isShellValue(steps, name))
  return produced.reduce(
    (text, { name, recorded }) => text.replaceAll(shellEscape(recorded), `'"$${name}"'`),
    shellQuote(json),
  )
}

function jqPath(path: readonly (string | number)[]): string {
  return `.${path.map((key) => `[${JSON.stringify(key)}]`).join('')}`
}

/** A word in single quotes, which a shell takes as it is. */
function shellQuote(text: string): string {
  return `'${shellEscape(text)}'`
}

function shellEscape(text: string): string {
  return text.replaceAll("'", `'\\''`)
}
