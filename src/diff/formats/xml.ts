import { LONGEST_PARSED, setMember, type TextFormat } from './format.ts'

/**
 * XML, or HTML with all elements closed except for those that HTML leaves open. An element is an object: `@name` has an attribute, `#text`
 * the text beside child elements, and each other member the children of one name, as a list. An element with only text is a string.
 */
export const xml: TextFormat = { name: 'XML or HTML', parse: parseXml, isDistinctive: true }

const DEEPEST_ELEMENT = 80
const MOST_ELEMENTS = 200_000

interface OpenElement {
  readonly name: string
  readonly attributes: readonly (readonly [name: string, value: string])[]
  readonly children: Map<string, unknown[]>
  readonly texts: string[]
  /** The names of children and texts in order. Repetitions count once, so that a further row is not another order. */
  readonly order: string[]
}

function parseXml(text: string): unknown {
  if (text.length > LONGEST_PARSED || !/^\s*<[!?a-z]/i.test(text) || !/>\s*$/.test(text)) return undefined
  const isHtml = /<(?:!doctype html|html)\b/i.test(text.slice(0, 1000))
  const root = openElement('', [])
  const open: OpenElement[] = [root]
  let elements = 0
  let at = 0
  while (at < text.length) {
    const markup = text.indexOf('<', at)
    addText(open, text.slice(at, markup < 0 ? text.length : markup))
    if (markup < 0) break
    const tag = readMarkup(text, markup)
    if (tag === undefined) return undefined
    at = tag.end
    if (tag.kind === 'text') addText(open, tag.text)
    else if (tag.kind === 'aside') addChild(open.at(-1), tag.name, tag.text)
    else if (tag.kind === 'close') {
      if (!closeElement(open, tag.name, isHtml)) return undefined
    } else {
      if (++elements > MOST_ELEMENTS || open.length > DEEPEST_ELEMENT) return undefined
      if (isHtml) closeImplied(open, tag.name)
      open.push(openElement(tag.name, tag.attributes))
      if (tag.isEmpty || VOID_ELEMENTS.has(tag.name.toLowerCase())) closeLast(open)
      else if (RAW_TEXT.has(tag.name.toLowerCase())) {
        const end = endOfRawText(text, at, tag.name)
        if (end === undefined) return undefined
        open.at(-1)?.texts.push(text.slice(at, end))
        at = end
      }
    }
  }
  if (isHtml) while (mayStayOpen(open)) closeLast(open)
  return open.length === 1 && elements > 0 ? valueOf(root) : undefined
}

function openElement(name: string, attributes: OpenElement['attributes']): OpenElement {
  return { name, attributes, children: new Map(), texts: [], order: [] }
}

const VOID_ELEMENTS = new Set(
  'area base br col embed hr img input link meta param source track wbr !doctype'.split(' '),
)
const MAY_STAY_OPEN = new Set('p li dt dd tr td th thead tbody tfoot option body html head'.split(' '))
const RAW_TEXT = new Set(['script', 'style'])

type Markup =
  | { readonly kind: 'text'; readonly text: string; readonly end: number }
  /** A comment or a declaration. */
  | { readonly kind: 'aside'; readonly name: string; readonly text: string; readonly end: number }
  | { readonly kind: 'close'; readonly name: string; readonly end: number }
  | {
      readonly kind: 'open'
      readonly name: string
      readonly attributes: OpenElement['attributes']
      readonly isEmpty: boolean
      readonly end: number
    }

const CDATA = '<![CDATA['

function readMarkup(text: string, at: number): Markup | undefined {
  if (text.startsWith('<!--', at)) return readAside(text, at, '#comment', '-->')
  if (text.startsWith('<?', at)) return readAside(text, at, '#declaration', '?>')
  if (text.startsWith(CDATA, at)) {
    const close = text.indexOf(']]>', at)
    return close < 0
      ? undefined
      : { kind: 'text', text: text.slice(at + CDATA.length, close), end: close + 3 }
  }
  if (text.startsWith('<!', at)) return readAside(text, at, '#declaration', '>')
  return readTag(text, at)
}

function readAside(text: string, at: number, name: string, close: string): Markup | undefined {
  const end = text.indexOf(close, at)
  if (end < 0) return undefined
  return { kind: 'aside', name, text: text.slice(at, end + close.length), end: end + close.length }
}

const TAG_NAME = /[a-z_][\w:.-]*/iy
const ATTRIBUTE = /\s+([^\s=<>"'/]+)(?:\s*=\s*(?:"([^"<]*)"|'([^'<]*)'|([^\s"'=<>`]+)))?/y
const TAG_END = /\s*(\/?)>/y

function readTag(text: string, at: number): Markup | undefined {
  const isClosing = text[at + 1] === '/'
  const name = matchAt(TAG_NAME, text, at + (isClosing ? 2 : 1))
  if (name === undefined) return undefined
  let end = name.end
  const attributes: [string, string][] = []
  for (;;) {
    const tagEnd = matchAt(TAG_END, text, end)
    if (tagEnd !== undefined) {
      if (isClosing) return { kind: 'close', name: name.found[0], end: tagEnd.end }
      const isEmpty = tagEnd.found[1] === '/'
      return { kind: 'open', name: name.found[0], attributes, isEmpty, end: tagEnd.end }
    }
    const attribute = isClosing ? undefined : matchAt(ATTRIBUTE, text, end)
    if (attribute === undefined) return undefined
    const [, key = '', double, single, bare] = attribute.found
    attributes.push([key, double ?? single ?? bare ?? ''])
    end = attribute.end
  }
}

function matchAt(
  pattern: RegExp,
  text: string,
  at: number,
): { readonly found: RegExpExecArray; readonly end: number } | undefined {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  return found === null ? undefined : { found, end: at + found[0].length }
}

function endOfRawText(text: string, at: number, name: string): number | undefined {
  const close = new RegExp(`</${name}\\s*>`, 'gi')
  close.lastIndex = at
  return close.exec(text)?.index
}

/** Space between elements is layout. */
function addText(open: readonly OpenElement[], text: string): void {
  const element = open.at(-1)
  if (element === undefined || text === '') return
  if (text.trim() === '' && (element.children.size > 0 || element.name === '')) return
  element.texts.push(text)
  addToOrder(element, '#text')
}

function addToOrder({ order }: OpenElement, name: string): void {
  if (order.at(-1) !== name) order.push(name)
}

function addChild(parent: OpenElement | undefined, name: string, value: unknown): void {
  if (parent === undefined) return
  if (parent.texts.length === 1 && parent.texts[0]?.trim() === '') {
    parent.texts.pop()
    parent.order.pop()
  }
  const known = parent.children.get(name)
  if (known === undefined) parent.children.set(name, [value])
  else known.push(value)
  addToOrder(parent, name)
}

/** Closes the innermost element, and adds its value to its parent. */
function closeLast(open: OpenElement[]): void {
  const element = open.pop()
  if (element !== undefined) addChild(open.at(-1), element.name, valueOf(element))
}

/** Returns false if the innermost element has another name. */
function closeElement(open: OpenElement[], name: string, isHtml: boolean): boolean {
  const isOpen = (): boolean => {
    const last = open.at(-1)?.name ?? ''
    return isHtml ? last.toLowerCase() === name.toLowerCase() : last === name
  }
  if (isHtml) while (!isOpen() && mayStayOpen(open)) closeLast(open)
  if (open.length === 1 || !isOpen()) return false
  closeLast(open)
  return true
}

function mayStayOpen(open: readonly OpenElement[]): boolean {
  return open.length > 1 && MAY_STAY_OPEN.has(open.at(-1)?.name.toLowerCase() ?? '')
}

/** In HTML, a further item or cell closes the one before it. */
function closeImplied(open: OpenElement[], name: string): void {
  const last = open.at(-1)?.name.toLowerCase() ?? ''
  if (SAME_CLOSES.has(last) && last === name.toLowerCase()) closeLast(open)
}

const SAME_CLOSES = new Set(['p', 'li', 'dt', 'dd', 'tr', 'td', 'th', 'option'])

function valueOf({ attributes, children, texts, order }: OpenElement): unknown {
  if (attributes.length === 0 && children.size === 0) return texts.join('')
  const value = {}
  for (const [name, text] of attributes) setMember(value, `@${name}`, text)
  if (texts.length > 0) setMember(value, '#text', texts.length === 1 ? texts[0] : texts)
  for (const [name, all] of children) setMember(value, name, all)
  if (order.length > 1) setMember(value, '#order', order)
  return value
}
