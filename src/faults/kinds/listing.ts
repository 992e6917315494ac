import { member } from '../../json/parse.ts'
import { type FaultKind, editResult, variantFault } from '../fault.ts'

const LISTS = ['tools', 'prompts', 'resources', 'resourceTemplates']

/** Changes the answers to requests for lists: tools, prompts, resources and their templates. Other requests are not affected. */
export const listing: FaultKind = variantFault(
  'listing',
  'Change lists of tools, prompts and resources',
  {
    'cursor-loop': {
      description: 'gets a page that leads to itself',
      change: (text, { params }) =>
        editList(text, (items, rest) => ({
          ...rest,
          ...items,
          nextCursor: member(params, 'cursor') ?? 'page-1',
        })),
    },
    empty: {
      description: 'gets an empty list',
      change: (text) =>
        editList(text, (items, rest) => ({
          ...rest,
          ...Object.fromEntries(Object.keys(items).map((name) => [name, []])),
        })),
    },
    vanish: {
      description: 'gets a list without its first item',
      change: (text) =>
        editList(text, (items, rest) => ({ ...rest, ...mapLists(items, (list) => list.slice(1)) })),
    },
    'changes-between-pages': {
      description: 'gets a page that begins with an item of the page before it',
      change: (text, { params }) =>
        editList(text, (items, rest) => ({
          ...rest,
          ...(member(params, 'cursor') === undefined
            ? items
            : mapLists(items, (list) => [...list.slice(0, 1), ...list.slice(0, -1)])),
        })),
    },
    repeat: {
      description: 'gets a list that has every item twice',
      change: (text) =>
        editList(text, (items, rest) => ({ ...rest, ...mapLists(items, (list) => [...list, ...list]) })),
    },
  },
  /\/list$/,
)

type Lists = Readonly<Record<string, readonly unknown[]>>

function editList(
  text: string,
  edit: (lists: Lists, rest: Readonly<Record<string, unknown>>) => unknown,
): string {
  return editResult(text, (given) => {
    const entries = Object.entries(given)
    const lists = entries.filter((entry): entry is [string, unknown[]] => LISTS.includes(entry[0]))
    if (lists.length === 0) return given
    return edit(
      Object.fromEntries(lists),
      Object.fromEntries(entries.filter(([name]) => !LISTS.includes(name))),
    )
  })
}

function mapLists(lists: Lists, map: (list: readonly unknown[]) => readonly unknown[]): Lists {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, map(list)]))
}
