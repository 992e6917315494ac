import { expect, test } from 'vitest'
import {
  call,
  callOf,
  client,
  ENVELOPE,
  HANDSHAKE,
  server,
  tapeOf,
  type Said,
} from '../../../test/support/tape-of.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import type { SuggestedMatchOptions } from '../options.ts'
import { MISS_CODE, missAsError, missAsText } from './report.ts'
import { MissExplainer, type Miss } from './miss.ts'
import { RecordingIndex } from '../recording-index.ts'
import { type MatcherOptions } from '../matcher.ts'

const NOW = Date.parse('2026-11-22T09:00:00Z') // a week after the tape was made

const SEARCHES: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'cats', limit: 10, sort: 'new' }, 'cats'),
  ...call(2, 'search', { q: 'dogs', limit: 50, sort: 'old' }, 'dogs'),
  ...call(3, 'count', {}, '1'),
]

test('the report shows the nearest request, and the argument that differs as a path for --ignore', () => {
  const run = runOf(SEARCHES)
  const miss = run.miss('search', { q: 'cats', limit: 20, sort: 'new' })
  expect(missAsText(miss)).toMatchInlineSnapshot(`
    "REPLAY MISS  tools/call search   tape: animals.tape.jsonl
    why          ARGUMENT_DRIFT: same tool, 1 of 4 fields differs
    request      tools/call search {"limit":20,"q":"cats","sort":"new"}
    nearest      #2 of 2 candidates, distance 0.13, recorded 2026-11-15, used 0 of 1 times
      ~ params.arguments.limit   recorded 10   got 20
      = params.name, params.arguments.q, params.arguments.sort
    others       #3, distance 0.57, used 0 of 1 times
    next         #2 tools/call search {"limit":10,"q":"cats","sort":"new"}
    fixes        for this run only                    accept params.arguments.limit
                 ignore the difference, from now on   reelay match add animals.tape.jsonl params.arguments.limit --as ignore --tool search"
  `)
  expect(missAsError(miss)).toMatchInlineSnapshot(`
    {
      "code": -39404,
      "data": {
        "accept": "accept params.arguments.limit",
        "fixes": [
          {
            "command": "accept params.arguments.limit",
            "kind": "run",
            "what": "for this run only",
          },
          {
            "command": "reelay match add animals.tape.jsonl params.arguments.limit --as ignore --tool search",
            "kind": "store",
            "what": "ignore the difference, from now on",
          },
        ],
        "kind": "replay_miss",
        "method": "tools/call",
        "nearest": [
          {
            "differences": [
              {
                "got": 20,
                "path": "params.arguments.limit",
                "recorded": 10,
              },
            ],
            "distance": 0.125,
            "exchange": 2,
            "frame": 4,
            "of": 1,
            "recorded": "2026-11-15T00:00:00.004Z",
            "used": 0,
          },
          {
            "differences": [
              {
                "got": "cats",
                "path": "params.arguments.q",
                "recorded": "dogs",
              },
              {
                "got": 20,
                "path": "params.arguments.limit",
                "recorded": 50,
              },
              {
                "got": "new",
                "path": "params.arguments.sort",
                "recorded": "old",
              },
            ],
            "distance": 0.569,
            "exchange": 3,
            "frame": 6,
            "of": 1,
            "used": 0,
          },
        ],
        "next": {
          "exchange": 2,
          "frame": 4,
          "method": "tools/call",
          "params": {
            "arguments": {
              "limit": 10,
              "q": "cats",
              "sort": "new",
            },
            "name": "search",
          },
        },
        "reason": "ARGUMENT_DRIFT",
        "tape": "animals.tape.jsonl",
        "tool": "search",
        "why": "same tool, 1 of 4 fields differs",
      },
      "message": "REPLAY MISS ARGUMENT_DRIFT: tools/call search {"limit":20,"q":"cats","sort":"new"}: same tool, 1 of 4 fields differs (nearest #2: params.arguments.limit recorded 10, got 20); next expected: #2 tools/call search {"limit":10,"q":"cats","sort":"new"}",
    }
  `)
})

test('a used-up request is reported with its number of uses, and --permissive accepts it', () => {
  const run = runOf(SEARCHES)
  run.hit('count', {})
  expect(missAsText(run.miss('count', {}))).toMatchInlineSnapshot(`
    "REPLAY MISS  tools/call count   tape: animals.tape.jsonl
    why          EXHAUSTED: already used 1 of 1 times
    request      tools/call count {}
    nearest      #4, distance 0.00, recorded 2026-11-15, used 1 of 1 times
      = params.name
    next         #2 tools/call search {"limit":10,"q":"cats","sort":"new"}
    fixes        repeat the last response   accept  permissively"
  `)
})

test('a call without a tool name is reported as such', () => {
  const { reason, why } = runOf(SEARCHES).missOf('tools/call', {})
  expect([reason, why]).toEqual([
    'ARGUMENT_DRIFT',
    'the request names no tool; recorded tools: search, count',
  ])
})

test('a call of an unknown tool is not compared with other calls', () => {
  const miss = runOf(SEARCHES).miss('delete', { q: 'cats' })
  expect(missAsText(miss)).toMatchInlineSnapshot(`
    "REPLAY MISS  tools/call delete   tape: animals.tape.jsonl
    why          UNKNOWN_TOOL: no call of "delete" was recorded; recorded tools: search, count
    request      tools/call delete {"q":"cats"}
    next         #2 tools/call search {"limit":10,"q":"cats","sort":"new"}"
  `)
  expect(missAsError(miss).data).toMatchInlineSnapshot(`
    {
      "fixes": [],
      "kind": "replay_miss",
      "method": "tools/call",
      "nearest": [],
      "next": {
        "exchange": 2,
        "frame": 4,
        "method": "tools/call",
        "params": {
          "arguments": {
            "limit": 10,
            "q": "cats",
            "sort": "new",
          },
          "name": "search",
        },
      },
      "reason": "UNKNOWN_TOOL",
      "tape": "animals.tape.jsonl",
      "tool": "delete",
      "why": "no call of "delete" was recorded; recorded tools: search, count",
    }
  `)
})

test('an unknown method, an empty tape and a request without an answer have different reasons', () => {
  const run = runOf([...SEARCHES, client({ id: 9, method: 'resources/list' })])
  expect(whyOf(run.missOf('prompts/list'))).toMatchInlineSnapshot(
    `"UNKNOWN_METHOD: no prompts/list was recorded; recorded methods: initialize, tools/call, resources/list"`,
  )
  expect(whyOf(run.missOf('resources/list'))).toMatchInlineSnapshot(
    `"UNANSWERED: recorded as #5, but the tape has no response to it: the server did not answer, or rejected the HTTP request"`,
  )
  expect(whyOf(runOf([]).missOf('tools/list'))).toMatchInlineSnapshot(
    `"EMPTY_TAPE: the tape has no requests to this server"`,
  )
})

test('a request of the other era is reported as such and not compared', () => {
  expect(
    whyOf(runOf(SEARCHES).missOf('tools/call', { name: 'count', _meta: ENVELOPE })),
  ).toMatchInlineSnapshot(
    `"ERA_MISMATCH: a modern request (with a protocol version in _meta), but the tape has only legacy requests; reelay serve --as 2026-07-28 translates them"`,
  )
  const modern = runOf([
    client({ id: 1, method: 'tools/list', params: { _meta: ENVELOPE } }),
    server({ id: 1, result: { tools: [], resultType: 'complete' } }),
  ])
  expect(whyOf(modern.missOf('tools/list'))).toMatchInlineSnapshot(
    `"ERA_MISMATCH: a legacy request (without a protocol version in _meta), but the tape has only modern requests; reelay serve --as 2025-11-25 translates them"`,
  )
})

test('different prompts are not compared, different resources are', () => {
  const run = runOf([
    client({ id: 1, method: 'prompts/get', params: { name: 'greet' } }),
    server({ id: 1, result: {} }),
    client({ id: 2, method: 'resources/read', params: { uri: 'file:///tmp/a1/x.md' } }),
    server({ id: 2, result: {} }),
  ])
  expect(whyOf(run.missOf('prompts/get', { name: 'leave' }))).toMatchInlineSnapshot(
    `"ARGUMENT_DRIFT: no prompts/get {"name":"leave"} was recorded; recorded prompts: greet"`,
  )
  expect(missAsText(run.missOf('resources/read', { uri: 'file:///tmp/b2/x.md' }))).toMatchInlineSnapshot(`
    "REPLAY MISS  resources/read   tape: animals.tape.jsonl
    why          ARGUMENT_DRIFT: same method, 1 of 1 fields differs
    request      resources/read {"uri":"file:///tmp/b2/x.md"}
    nearest      #2, distance 0.19, recorded 2026-11-15, used 0 of 1 times
      ~ params.uri   recorded "file:///tmp/a1/x.md"   got "file:///tmp/b2/x.md"
    next         #1 prompts/get {"name":"greet"}
    fixes        for this run only                    accept params.uri
                 ignore the difference, from now on   reelay match add animals.tape.jsonl params.uri --as ignore --method resources/read"
  `)
})

test('with the suggested options the same run has no miss', () => {
  const args = { q: 'birds', limit: 1, sort: 'new', page: { n: 1 }, 'a.b': true }
  const { ignore, permissive } = advisedFor(SEARCHES, [['search', args]])
  expect({ ignore, permissive }).toEqual({
    ignore: [
      'params.arguments.q',
      'params.arguments.limit',
      'params.arguments.page',
      'params.arguments["a.b"]',
    ],
    permissive: false,
  })
  runOf(SEARCHES, { ignore, permissive }).hit('search', args)
})

test('if more requests miss than the tape has answers, the suggestion includes --permissive', () => {
  const calls = [9, 8, 7].map((limit) => ['search', { q: 'cats', limit, sort: 'new' }] as const)
  const { ignore, permissive } = advisedFor(SEARCHES, calls)
  expect({ ignore, permissive }).toEqual({ ignore: ['params.arguments.limit'], permissive: true })
  const run = runOf(SEARCHES, { ignore, permissive })
  for (const [name, args] of calls) run.hit(name, args)
})

test('the suggestion includes the current options', () => {
  const run = runOf(SEARCHES, { ignore: ['params.arguments.sort'], permissive: true })
  expect(run.miss('search', { q: 'cats', limit: 20 }).fixes.at(0)?.command).toBe(
    'accept params.arguments.sort params.arguments.limit permissively',
  )
})

test('if many fields differ, the suggestion ignores the argument that contains them', () => {
  const said = call(1, 'sum', { numbers: [1, 2, 3, 4, 5, 6, 7, 8] }, '36')
  const miss = runOf(said).miss('sum', { numbers: [8, 7, 6, 5, 4, 3, 2, 1, 0] })
  expect(miss.fixes.at(0)?.command).toBe('accept params.arguments.numbers')
})

test('a report stays short when values are long and requests are many', () => {
  const said = [...Array(50).keys()].flatMap((id) =>
    call(id, 'write', { text: 'x'.repeat(5_000), id }, 'done'),
  )
  const miss = runOf(said).miss('write', { text: 'y'.repeat(5_000), id: 99 })
  expect(missAsText(miss).length).toBeLessThan(1_500)
  expect(JSON.stringify(missAsError(miss)).length).toBeLessThan(6_000)
  expect(missAsError(miss).message).not.toContain('\n')
})

test('a date that moved with the calendar is reported as such, and relative-date is the first fix', () => {
  const said = call(1, 'book', { on: '2026-11-22', seats: 2 }, 'booked')
  const miss = runOf(said).miss('book', { on: '2026-11-29', seats: 2 })
  expect(missAsText(miss)).toMatchInlineSnapshot(`
    "REPLAY MISS  tools/call book   tape: animals.tape.jsonl
    why          ARGUMENT_DRIFT: same tool, 1 of 3 fields differs
    request      tools/call book {"on":"2026-11-29","seats":2}
    nearest      #1, distance 0.06, recorded 2026-11-15, used 0 of 1 times
      ~ params.arguments.on   recorded "2026-11-22"   got "2026-11-29"   looks like: today + 7 days
      = params.name, params.arguments.seats
    next         #1 tools/call book {"on":"2026-11-22","seats":2}
    fixes        compare as relative-date, from now on   reelay match add animals.tape.jsonl params.arguments.on --as relative-date --tool book
                 for this run only                       accept params.arguments.on
                 ignore the difference, from now on      reelay match add animals.tape.jsonl params.arguments.on --as ignore --tool book"
  `)
  const [first] = miss.fixes
  expect(first?.kind).toBe('store')
  runOf(said, { rules: ['tools/call book params.arguments.on relative-date'] }).hit('book', {
    on: '2026-11-29',
    seats: 2,
  })
})

test.each([
  [{ tags: ['b', 'a'], who: 'Ann' }, ['params.arguments.tags unordered']],
  [{ tags: ['a', 'b'], who: ' Ann' }, ['params.arguments.who trim']],
  [
    { tags: ['b', 'a'], who: 'ANN' },
    ['params.arguments.tags unordered', 'params.arguments.who case-insensitive'],
  ],
])('%j: the first fix is the strictest rule that accepts it', (args, rules) => {
  const said = call(1, 'tag', { tags: ['a', 'b'], who: 'Ann' }, '')
  const [fix] = runOf(said).miss('tag', args).fixes
  expect(fix?.command.split(' && ')).toEqual(
    rules.map((rule) => {
      const [path = '', kind = ''] = rule.split(' ')
      return `reelay match add animals.tape.jsonl ${path} --as ${kind} --tool tag`
    }),
  )
  runOf(said, { rules }).hit('tag', args)
})

const TEAMS: readonly Said[] = [
  client({ id: 1, method: 'tools/call', params: { name: 'teams' } }),
  server({ id: 1, result: { structuredContent: { teams: [{ id: 'TEAM_1', name: 'core' }] } } }),
  ...call(2, 'issue', { team: 'TEAM_1', title: 'core' }, 'made'),
]

test('a value that the server generated is shown with the response that it came from', () => {
  const miss = runOf(TEAMS).miss('issue', { team: 'TEAM_1', title: 'other' })
  expect(miss.reason).toBe('ARGUMENT_DRIFT')
  expect(missAsText(miss)).toContain(
    '  = params.arguments.team   "TEAM_1"   (bound to #1 result.structuredContent.teams[0].id)',
  )
  expect(missAsError(miss).data.nearest[0]?.bound).toEqual([
    { path: 'params.arguments.team', boundTo: '#1 result.structuredContent.teams[0].id' },
  ])
})

test('a generated value that is not from this tape is reported as UNBOUND_HANDLE', () => {
  const miss = runOf(TEAMS).miss('issue', { team: 'TEAM_7', title: 'core' })
  expect(`${miss.reason}: ${miss.why}`).toMatchInlineSnapshot(
    `"UNBOUND_HANDLE: params.arguments.team was "TEAM_1", which the server sent in #1; the client sent a value that is not from this tape"`,
  )
  expect(missAsError(miss).data.nearest[0]?.differences).toEqual([
    {
      path: 'params.arguments.team',
      recorded: 'TEAM_1',
      got: 'TEAM_7',
      boundTo: '#1 result.structuredContent.teams[0].id',
    },
  ])
})

test('a value that the server sent only after the request is not a generated value', () => {
  const said = [...call(1, 'issue', { team: 'TEAM_1' }, 'TEAM_1'), ...call(2, 'teams', {}, 'TEAM_1')]
  const miss = runOf(said).miss('issue', { team: 'TEAM_7' })
  expect([miss.reason, miss.annotations]).toEqual(['ARGUMENT_DRIFT', []])
})

test('a request that was recorded for another server of the tape is reported as such', () => {
  const elsewhere = call(1, 'blame', { file: 'a.ts' }, 'Ann').map((said) => ({ ...said, server: 'git' }))
  const miss = runOf([...SEARCHES, ...elsewhere]).miss('blame', { file: 'a.ts' })
  expect(miss.fixes.map(({ command }) => command)).toEqual(['accept git'])
  expect(whyOf(miss)).toMatchInlineSnapshot(
    `"WRONG_SERVER: the same request was recorded as #5 for the server "git" (compared)"`,
  )
  expect(runOf([...SEARCHES, ...elsewhere]).miss('blame', { file: 'b.ts' }).reason).toBe('UNKNOWN_TOOL')
})

test('OUT_OF_ORDER shows the request that comes first, and the fix accepts any order', () => {
  const run = runOf(SEARCHES, { match: 'sequential' })
  expect(missAsText(run.miss('count', {}))).toMatchInlineSnapshot(`
    "REPLAY MISS  tools/call count   tape: animals.tape.jsonl
    why          OUT_OF_ORDER: recorded as #4, but #2 tools/call search {"limit":10,"q":"cats","sort":"new"} comes first
    request      tools/call count {}
    nearest      #4, distance 0.00, recorded 2026-11-15, used 0 of 1 times
      = params.name
    next         #2 tools/call search {"limit":10,"q":"cats","sort":"new"}
    fixes        accept any order   accept method-and-params"
  `)
})

test('with sequential matching, fixes are suggested only for the next request', () => {
  const run = runOf(SEARCHES, { match: 'sequential' })
  expect(run.miss('search', { q: 'dogs', limit: 51, sort: 'old' }).fixes).toEqual([])
  expect(run.miss('search', { q: 'cats', limit: 11, sort: 'new' }).fixes).toHaveLength(2)
})

test('a field that a rule rejects is shown with the rule', () => {
  const run = runOf(call(1, 'book', { seats: 2, on: '2026-11-20' }, ''), {
    rules: ['params.arguments.seats number within 1', 'params.arguments.on relative-date'],
  })
  expect(missAsText(run.miss('book', { seats: 3, on: '2026-11-20' }))).toMatchInlineSnapshot(`
    "REPLAY MISS  tools/call book   tape: animals.tape.jsonl
    why          ARGUMENT_DRIFT: same tool, 1 of 3 fields differs
    request      tools/call book {"on":"2026-11-20","seats":3}
    nearest      #1, distance 0.03, recorded 2026-11-15, used 0 of 1 times
      ~ params.arguments.on   recorded "2026-11-20"   got "2026-11-20"   (rule: relative-date)
      = params.name, params.arguments.seats
    next         #1 tools/call book {"on":"2026-11-20","seats":2}
    fixes        for this run only                    accept params.arguments.on params.arguments.seats number within 1 params.arguments.on relative-date
                 ignore the difference, from now on   reelay match add animals.tape.jsonl params.arguments.on --as ignore --tool book"
  `)
})

test('a difference in what the user agreed to is shown without a fix', () => {
  const params = { name: 'delete', requestState: 's', inputResponses: { sure: { action: 'accept' } } }
  const run = runOf([client({ id: 1, method: 'tools/call', params }), server({ id: 1, result: {} })])
  const miss = run.missOf('tools/call', { ...params, inputResponses: { sure: { action: 'decline' } } })
  expect(missAsText(miss)).toMatchInlineSnapshot(`
    "REPLAY MISS  tools/call delete   tape: animals.tape.jsonl
    why          ARGUMENT_DRIFT: same tool, 1 of 3 fields differs
    request      tools/call delete
    nearest      #1, distance 0.33, recorded 2026-11-15, used 0 of 1 times
      ~ params.inputResponses.sure.action   recorded "accept"   got "decline"
      = params.name, params.requestState
    next         #1 tools/call delete"
  `)
})

test('on a long tape only the most similar requests are compared, and the nearest is found', () => {
  const said = Array.from({ length: 3_000 }, (_, id) =>
    call(id, 'read', { path: `/src/${id}.ts`, line: id }, ''),
  ).flat()
  const miss = runOf(said).miss('read', { path: '/src/2345.ts', line: 99_999 })
  expect(miss.nearest[0]?.frame).toBe(2 * 2345 + 1)
  expect(miss.nearest.length).toBeLessThan(100)
})

test.each(['method-and-params', 'subset', 'sequential'])(
  'match %s: an answer of which only the beginning was recorded is reported as cut',
  (match) => {
    const { turns } = tapeOf(client(callOf(1, 'read', {})))
    const index = new RecordingIndex(
      turns.map((turn) => ({ ...turn, cut: 2 })),
      { match },
    )
    const request = { server: 'demo', method: 'tools/call', params: { name: 'read', arguments: {} } }
    expect(index.lookup(request)).toMatchObject({ kind: 'unanswered', entry: { unanswered: [1], cut: [1] } })
  },
)

test('the error code of a miss is outside the range that JSON-RPC reserves', () => {
  expect(MISS_CODE < -32768 || MISS_CODE > -32000).toBe(true)
})

interface Run {
  hit(name: string, args: object): void
  miss(name: string, args: object): Miss
  missOf(method: string, params?: unknown): Miss
}

function runOf(
  said: readonly Said[],
  options: MatcherOptions = {},
  onAdvice = (_advice: SuggestedMatchOptions): void => {},
): Run {
  const { turns, header } = tapeOf(...said)
  const times = { started: header.started, now: () => NOW }
  const index = new RecordingIndex(turns, { ...options, server: 'demo', ...times })
  const commandFor = (advice: SuggestedMatchOptions): string => {
    onAdvice(advice)
    const { match = '', server: other = '', ignore, rules } = advice
    const words = [match, other, ...ignore, ...rules].filter((word) => word !== '')
    return `accept ${words.join(' ')}${advice.permissive ? ' permissively' : ''}`
  }
  const explainer = new MissExplainer({
    matcher: index,
    tape: 'animals.tape.jsonl',
    turns: turnStoreOf(turns),
    ...times,
    given: options,
    commandFor,
  })
  const missOf = (method: string, params?: unknown): Miss => {
    const request = { server: 'demo', method, params }
    const outcome = index.lookup(request)
    if (outcome.kind === 'hit') throw new Error(`a hit: ${outcome.turn.response?.text}`)
    return explainer.explain(request, outcome)
  }
  return {
    missOf,
    miss: (name, args) => missOf('tools/call', { name, arguments: args }),
    hit: (name, args) => {
      const params = { name, arguments: args }
      expect(index.lookup({ server: 'demo', method: 'tools/call', params }).kind).toBe('hit')
    },
  }
}

function advisedFor(
  said: readonly Said[],
  calls: readonly (readonly [string, object])[],
): SuggestedMatchOptions {
  let last: SuggestedMatchOptions | undefined
  const run = runOf(said, {}, (advice) => {
    last = advice
  })
  for (const [name, args] of calls) run.miss(name, args)
  if (last === undefined) throw new Error('no advice was given')
  return last
}

function whyOf({ reason, why, nearest, fixes }: Miss): string {
  return `${reason}: ${why}${nearest.length > 0 || fixes.length > 0 ? ' (compared)' : ''}`
}
