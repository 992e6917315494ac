import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { parse } from 'jsonc-parser'
import { getStaticTOMLValue, parseTOML } from 'toml-eslint-parser'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deskIn, type Desk } from './desk.ts'
import { jsonText, remoteWish, TOML_ENTRIES, tomlText, type RemoteWish } from './remote-ways.ts'
import { cases } from '../support/cases.ts'

let folder: string
let desk: Desk
beforeEach(() => void (desk = deskIn((folder = mkdtempSync(join(tmpdir(), 'reelay-remote-'))))))
afterEach(() => rmSync(folder, { recursive: true }))

interface Language {
  readonly name: string
  readonly file: string
  readonly write: (wish: RemoteWish) => string
  readonly read: (text: string) => Config
}

type Config = Readonly<Record<string, Readonly<Record<string, Entry>>>>

interface Entry {
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly env_vars?: readonly string[]
}

const LANGUAGES: readonly Language[] = [
  { name: 'JSON', file: 'project/.mcp.json', write: jsonText, read: (text) => parse(text) as Config },
  ...TOML_ENTRIES.map((entry) => ({
    name: `TOML, ${entry}`,
    file: 'home/.codex/config.toml',
    write: (wish: RemoteWish) => tomlText(wish, entry),
    read: (text: string) => getStaticTOMLValue(parseTOML(text)) as unknown as Config,
  })),
]

test.each(LANGUAGES)(
  '$name: a url, however it is written, is wrapped and comes back byte for byte',
  ({ file, write }) => {
    fc.assert(
      fc.property(remoteWish, (wish) => {
        const before = write(wish)
        desk.write(file, before)
        expect(desk.wrap(['remote']).outcomes).toMatchObject([{ kind: 'wrapped' }])
        expect(desk.unwrap(['remote']).outcomes).toMatchObject([{ kind: 'unwrapped', exact: true }])
        expect(desk.read(file)).toBe(before)
      }),
      cases(25),
    )
  },
)

test.each(LANGUAGES)(
  '$name: without what Reelay remembers, it means what it meant',
  ({ file, write, read }) => {
    fc.assert(
      fc.property(remoteWish, (wish) => {
        const before = write(wish)
        desk.write(file, before)
        desk.wrap(['remote'])
        rmSync(join(folder, 'reelay', 'wrapped.json'))
        desk.unwrap(['remote'])
        expect(read(desk.read(file))).toEqual(read(before))
      }),
      cases(25),
    )
  },
)

test.each(LANGUAGES)(
  '$name: the bridge gets every header, and no value of one stands among its words',
  ({ file, write, read }) => {
    fc.assert(
      fc.property(remoteWish, (wish) => {
        desk.write(file, write(wish))
        desk.wrap(['remote'])
        const { args, env = {}, env_vars: passed = [] } = entryIn(read(desk.read(file)))
        const words = args.join('\n')
        expect(Object.values(wish.headers).filter((each) => each.length > 8 && words.includes(each))).toEqual(
          [],
        )
        expect(words).not.toMatch(/s3cret|a1b2c3|\$\{input/)
        for (const [name, value] of Object.entries(wish.headers))
          expect(env[variableOf(args, name)]).toBe(value)
        expect(env).toMatchObject(wish.env)
        const { words: handed, variables } = file.endsWith('.toml') ? handedOn(wish) : NOTHING_HANDED_ON
        expect(args).toEqual(expect.arrayContaining(handed))
        expect(passed.toSorted()).toEqual(variables)
      }),
      cases(25),
    )
  },
)

function entryIn(config: Config): Entry {
  const entry = (config['mcpServers'] ?? config['mcp_servers'])?.['remote']
  if (entry === undefined) throw new Error('the entry is gone')
  return entry
}

/** A header may come from a table of values and from one of variables: the value is what is asked for. */
function variableOf(args: readonly string[], header: string): string {
  const words = args.filter((word) => word.startsWith(`${header}=`) && !word.endsWith('?'))
  return words[0]?.slice(header.length + 1) ?? ''
}

const NOTHING_HANDED_ON = { words: [], variables: [] }

/** What only Codex has: headers, and a token, from variables of its own. */
function handedOn({ variables, token }: RemoteWish): { words: string[]; variables: string[] } {
  const names = new Set([...Object.values(variables), ...(token === undefined ? [] : [token])])
  return {
    words: Object.entries(variables).map(([header, name]) => `${header}=${name}?`),
    variables: [...names].toSorted(),
  }
}
