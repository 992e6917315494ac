import { EVERY_ITEM, type PathPattern, type PathSegment } from '../json/path.ts'

type DiffRuleEffect =
  | { readonly kind: 'ignore' }
  | { readonly kind: 'order'; readonly order: 'kept' | 'free' }
  | { readonly kind: 'tolerance'; readonly relative: number }

export interface DiffRule {
  readonly path: PathPattern
  readonly effect: DiffRuleEffect
}

/** The rules for one path and the paths below it. The comparison walks down this tree, so it never has to compare paths. */
export class DiffRuleNode {
  readonly ignored: boolean
  readonly order: 'kept' | 'free' | undefined
  readonly relative: number | undefined
  readonly #below: readonly DiffRule[]
  readonly #children = new Map<string | number, DiffRuleNode | undefined>()
  #every: { readonly node: DiffRuleNode | undefined } | undefined

  private constructor(here: readonly DiffRuleEffect[], below: readonly DiffRule[]) {
    this.#below = below
    this.ignored = here.some(({ kind }) => kind === 'ignore')
    this.order = here.findLast((effect) => effect.kind === 'order')?.order
    this.relative = here.findLast((effect) => effect.kind === 'tolerance')?.relative
  }

  /** Returns `undefined` if there are no rules, which makes the comparison faster. */
  static compile(rules: readonly DiffRule[]): DiffRuleNode | undefined {
    if (rules.length === 0) return undefined
    const here = rules.filter(({ path }) => path.length === 0).map(({ effect }) => effect)
    const below = rules.filter(({ path }) => path.length > 0)
    return new DiffRuleNode(here, below)
  }

  child(step: string | number): DiffRuleNode | undefined {
    if (typeof step === 'number' && !this.#namesItem(step)) return this.#everyItem()
    if (this.#children.has(step)) return this.#children.get(step)
    const node = this.#descend(
      (segment) => segment === step || (segment === EVERY_ITEM && typeof step === 'number'),
    )
    this.#children.set(step, node)
    return node
  }

  #namesItem(step: number): boolean {
    return this.#below.some(({ path }) => path[0] === step)
  }

  #everyItem(): DiffRuleNode | undefined {
    this.#every ??= { node: this.#descend((segment) => segment === EVERY_ITEM) }
    return this.#every.node
  }

  #descend(matches: (segment: PathSegment | undefined) => boolean): DiffRuleNode | undefined {
    return DiffRuleNode.compile(
      this.#below
        .filter(({ path }) => matches(path[0]))
        .map(({ path, effect }) => ({ path: path.slice(1), effect })),
    )
  }
}
