// The official JSON Schema of each revision, as the official conformance suite carries it: read out of its program, which is not run.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'
import { parseAst } from 'rolldown/parseAst'

const standaloneCode = standalone.default ?? standalone
const REVISION = /^\d{4}-\d\d-\d\d$/

/** Writes `mcp-<revision>.json` for each revision into a folder, with the licence that they are under; returns the revisions. */
export function writeOfficialSchemas(suite, folder) {
  const program = readFileSync(join(suite, 'dist', 'index.js'), 'utf8').replace(/^#!.*\n/, '')
  const schemas = schemasIn(parseAst(program))
  if (schemas.length === 0) throw new Error(`no official schema was found in ${suite}`)
  mkdirSync(folder, { recursive: true })
  for (const [revision, schema] of schemas) {
    writeFileSync(join(folder, `mcp-${revision}.json`), JSON.stringify(schema))
    writeFileSync(join(folder, `mcp-${revision}.cjs`), quickLooks(schema, answersIn))
    writeFileSync(join(folder, `mcp-${revision}-words.cjs`), quickLooks(schema, wordsIn))
  }
  copyFileSync(join(suite, 'LICENSE'), join(folder, 'LICENSE'))
  return schemas.map(([revision]) => revision)
}

/** A program with a function for each of some definitions: whether a value keeps to it. It loads in no time. */
function quickLooks(official, namesIn) {
  const { $schema: _, ...schema } = JSON.parse(JSON.stringify(official, withoutWords))
  const ajv = new Ajv2020({
    strict: false,
    logger: false,
    validateFormats: false,
    messages: false,
    code: { source: true },
  })
  ajv.addSchema({ ...schema, $id: 'urn:reelay:official' }, undefined, undefined, false)
  const holder = '$defs' in schema ? '$defs' : 'definitions'
  return standaloneCode(
    ajv,
    Object.fromEntries(
      namesIn(schema[holder]).map((name) => [name, `urn:reelay:official#/${holder}/${name}`]),
    ),
  )
}

/** What is for people is left out: the program would carry it along. A member of that name is an object. */
function withoutWords(name, value) {
  return name === 'description' && typeof value === 'string' ? undefined : value
}

/** What an answer can be. */
function answersIn(definitions) {
  return Object.keys(definitions).filter((name) => /Result$|^JSONRPCError(Response)?$/.test(name))
}

/** What a server can say beside its answers. */
function wordsIn({ ServerNotification, ServerRequest }) {
  const all = [ServerNotification, ServerRequest].flatMap((union) => union?.anyOf ?? [])
  return all.map(({ $ref }) => $ref.split('/').at(-1))
}

/** The suite holds a table, revision → schema; both are names of the program, which its constants explain. */
function schemasIn({ body }) {
  const constants = new Map(
    body
      .filter(({ type }) => type === 'VariableDeclaration')
      .flatMap(({ declarations }) => declarations.map(({ id, init }) => [id.name, init])),
  )
  const named = (node) => (node?.type === 'Identifier' ? constants.get(node.name) : node)
  return [...constants.values()].flatMap((init) =>
    init?.type === 'ObjectExpression'
      ? init.properties.flatMap((property) => entryOf(property, named) ?? [])
      : [],
  )
}

function entryOf({ type, key, computed, value }, named) {
  const schema = type === 'Property' ? named(value) : undefined
  if (!isSchema(schema)) return undefined
  const revision = valueOf(computed ? named(key) : key)
  return REVISION.test(revision) ? [[revision, valueOf(schema)]] : undefined
}

function isSchema(node) {
  const names = node?.type === 'ObjectExpression' ? node.properties.map(({ key }) => key?.name) : []
  return names.includes('$schema') && (names.includes('$defs') || names.includes('definitions'))
}

/** The value of a literal: nothing of the program is run. */
function valueOf(node) {
  switch (node.type) {
    case 'ObjectExpression':
      return Object.fromEntries(
        node.properties.map(({ key, value }) => [key.name ?? key.value, valueOf(value)]),
      )
    case 'ArrayExpression':
      return node.elements.map(valueOf)
    case 'Literal':
      return node.value
    case 'TemplateLiteral':
      return node.quasis[0].value.cooked
    case 'UnaryExpression':
      return node.operator === '!' ? !valueOf(node.argument) : -valueOf(node.argument)
    default:
      throw new Error(`the conformance suite spells its schemas in a new way: ${node.type}`)
  }
}
