/** A value as a header of 2026-07-28 carries it: as it is where that is safe, else in base64 between marks. */
export function encodeHeaderValue(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value)
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
