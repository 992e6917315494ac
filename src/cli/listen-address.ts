import { ReelayError } from '../errors.ts'

/** `host:port`, `[address]:port` or a port alone, as the value of an option. */
export function readListen(text: string, option = '--listen'): { host: string; port: number } {
  const found = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text)
  const port = Number(found?.[3])
  if (found === null || port > 65_535)
    throw new ReelayError('USAGE', `${option} ${text} is not of the form host:port`, {
      hint: `for example ${option} 127.0.0.1:8080; port 0 takes a free one`,
    })
  return { host: found[1] ?? found[2] ?? '127.0.0.1', port }
}
