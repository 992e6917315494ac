/** Things of which there are few, by numbers. */
export class ValueTable<Thing> {
  readonly list: Thing[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(name: string, thing: Thing): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.list.length)
    return this.list.push(thing) - 1
  }
}
