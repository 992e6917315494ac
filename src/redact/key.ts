/** The project's key. It is kept outside of every tape: whoever has it can tell which stand-in belongs to a value. */
export interface RedactionKey {
  /** Names the key on a tape without telling anything of it, such as `k-3f9a04d1`. */
  readonly name: string
  /** HMAC-SHA-256 with this key. Given from outside, because browsers and Node have it in different places. */
  readonly hmac: (text: string) => Uint8Array
}
